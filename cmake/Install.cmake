# make install: headers, both libraries, the command, licences, hamel.pc and the CMake package. Everything is
# found relative to where it lies, so that an installed tree can be moved.
install(DIRECTORY include/hamel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(TARGETS hamel_static hamel_shared EXPORT hamelTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(tool_target)
    install(TARGETS ${tool_target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

    # The command itself writes its man page and its completion scripts.
    set(shell_files ${PROJECT_BINARY_DIR}/share)
    add_custom_command(TARGET ${tool_target} POST_BUILD
        COMMAND ${CMAKE_COMMAND} -E make_directory ${shell_files}
        COMMAND ${tool_target} manual > ${shell_files}/hamel.1
        COMMAND ${tool_target} completion bash > ${shell_files}/hamel
        COMMAND ${tool_target} completion zsh > ${shell_files}/_hamel
        COMMAND ${tool_target} completion fish > ${shell_files}/hamel.fish VERBATIM)
    install(FILES ${shell_files}/hamel.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${shell_files}/hamel
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${shell_files}/_hamel DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${shell_files}/hamel.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

install(FILES LICENSE SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY LICENSES DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hamel)
configure_package_config_file(cmake/hamelConfig.cmake.in hamelConfig.cmake
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(hamelConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT hamelTargets NAMESPACE hamel:: DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/hamelConfig.cmake ${PROJECT_BINARY_DIR}/hamelConfigVersion.cmake
    DESTINATION ${package_dir})

set(pc_libs_private "")
foreach(library IN LISTS HAMEL_CORE_LIBS)
    string(APPEND pc_libs_private " -l${library}")
endforeach()
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_prefix /${pc_dir} /)
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
configure_file(cmake/hamel.pc.in hamel.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/hamel.pc DESTINATION ${pc_dir})
