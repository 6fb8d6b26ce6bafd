"""The sandbox: a made-up Connect service in memory. It listens on this machine only; tests need no socket."""
