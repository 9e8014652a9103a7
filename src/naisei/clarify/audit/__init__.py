"""The audit of user simulators: do they leak, contradict, mislead, and refuse where they should?"""

from naisei.clarify.audit.report import summarise, summary_line
from naisei.clarify.audit.task import AuditTask, audit_rule, audit_rule_steps

__all__ = [
    "AuditTask",
    "audit_rule",
    "audit_rule_steps",
    "summarise",
    "summary_line",
]
