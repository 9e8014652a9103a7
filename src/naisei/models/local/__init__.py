"""The embedded language model: its weights, how they are got, and the server in the process.

Import from the modules: `weights` (what is known, where it lies), `pull`, `server`,
`grammar`, `notice` (what must be said next to the model's figures).
"""
