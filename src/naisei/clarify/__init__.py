"""R-Clarify: asks before acting, reflects after failures.

result = run(ClarifyConfig(agent="bayes", limit=20), RunOptions(quiet=True))
"""

from naisei.clarify.config import AuditConfig, ClarifyConfig, Rules
from naisei.clarify.system import AUDIT, RUN
from naisei.system.execute import RunOptions

__all__ = ["AUDIT", "RUN", "AuditConfig", "ClarifyConfig", "Rules", "RunOptions", "arun", "run"]

run, arun = RUN.run, RUN.arun
