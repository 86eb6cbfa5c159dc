std = "luajit"
globals = { "vim" }
max_line_length = 140
exclude_files = { "nvim-plugin/lua/orch/table.lua" }
