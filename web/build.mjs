// Bundles src/ into OUT (default ../build/web): page.js, page.css and page.hash, the hash of the script
// that the page's security policy names. Everything is inside of these files, fonts too.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const out = resolve(process.argv[2] ?? '../build/web');

// KaTeX names each font as woff2, woff and ttf: browsers take the first, and only these fonts are used.
const fonts = /KaTeX_(Main-Regular|Main-Bold|Math-Italic|Size[1-4]-Regular|AMS-Regular)\.woff2$/;
const neededFonts = {
  name: 'needed fonts',
  setup(b) {
    b.onLoad({ filter: /katex\.css$/ }, async args => {
      const { readFile } = await import('node:fs/promises');
      const text = await readFile(args.path, 'utf8');
      const faces = text.replace(/@font-face\s*{[^}]*}/g, face => {
        const file = /url\(([^)]*\.woff2)\)/.exec(face)?.[1];
        if (!file || !fonts.test(file)) return '';
        return face.replace(/src:[^;}]*/, `src: url(${file}) format('woff2')`);
      });
      return { contents: faces, loader: 'css' };
    });
  },
};

const result = await build({
  entryPoints: { page: 'src/main.js' },
  bundle: true,
  minify: true,
  format: 'iife',
  target: ['es2020'],
  charset: 'ascii',
  legalComments: 'none',
  outdir: out,
  write: false,
  loader: { '.woff2': 'dataurl' },
  plugins: [neededFonts],
  logLevel: 'warning',
});

mkdirSync(out, { recursive: true });
for (const file of result.outputFiles) {
  // An HTML parser would end the element there.
  const text = file.text.replace(/<\/(script|style)/gi, '<\\/$1').replace(/<!--/g, '<\\!--').trimEnd();
  writeFileSync(file.path, text);
  if (file.path.endsWith('.js'))
    writeFileSync(resolve(out, 'page.hash'), createHash('sha256').update(text).digest('base64'));
}
