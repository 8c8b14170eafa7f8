"""``python -m experiments all | report | figures``."""

from experiments.framework.commands import app

if __name__ == "__main__":
    app(prog_name="python -m experiments")
