"""A small client of the language server for the tests: JSON-RPC over pipes, nothing of Hamel's own."""
import json
import subprocess


class Client:
    def __init__(self, hamel, encodings=None):
        self.process = subprocess.Popen([hamel, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0
        self.notices = []
        capabilities = {"general": {"positionEncodings": encodings}} if encodings else {}
        self.capabilities = self.ask("initialize", {"capabilities": capabilities})["result"]["capabilities"]
        self.tell("initialized", {})

    def send(self, message):
        body = json.dumps(dict(message, jsonrpc="2.0"), ensure_ascii=False).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while True:
            line = self.process.stdout.readline()
            assert line, "the server is gone"
            if line == b"\r\n":
                break
            length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def ask(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                return message
            self.notices.append(message)

    def open(self, uri, text):
        self.tell("textDocument/didOpen",
                  {"textDocument": {"uri": uri, "languageId": "hamel", "version": 1, "text": text}})

    def close(self, uri):
        self.tell("textDocument/didClose", {"textDocument": {"uri": uri}})

    def diagnostics(self, uri):
        """The next that are published for a document."""
        while True:
            message = self.notices.pop(0) if self.notices else self.receive()
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                return message["params"]["diagnostics"]

    def at(self, method, uri, line, character, **more):
        return self.ask("textDocument/" + method,
                        dict({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}, **more))

    def leave(self):
        self.ask("shutdown", None)
        self.tell("exit", None)
        return self.process.wait(10)
