"""JUnit XML: a test case for each finding, and one for each file without any."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from butlerctl.workflows.findings import Finding, Report
from butlerctl.workflows.formats import Options, one_line


def render(report: Report, options: Options) -> str:
    failures = sum(finding.severity >= options.fail_on for finding in report.findings)
    with_findings = {finding.file for finding in report.findings}
    clean = [file for file in report.files if file not in with_findings]
    cases = [
        *(_case(finding, fails=finding.severity >= options.fail_on) for finding in report.findings),
        *(
            f"  <testcase classname={quoteattr(one_line(file))} name={quoteattr('no findings')}/>"
            for file in clean
        ),
    ]
    return "\n".join(
        (
            '<?xml version="1.0" encoding="utf-8"?>',
            f'<testsuite name="butlerctl lint-workflows" tests="{len(cases)}" failures="{failures}" errors="0">',
            *cases,
            "</testsuite>\n",
        )
    )


def _case(finding: Finding, *, fails: bool) -> str:
    name = quoteattr(f"{finding.code} {finding.line}:{finding.column}")
    start = f"  <testcase classname={quoteattr(one_line(finding.file))} name={name}>"
    text = one_line(f"{finding.file}:{finding.line}:{finding.column}: {finding.message}")
    if fails:
        kind = f"type={quoteattr(finding.code)} message={quoteattr(one_line(finding.message))}"
        return f"{start}<failure {kind}>{escape(text)}</failure></testcase>"
    return f"{start}<system-out>{escape(f'{finding.severity}: {text}')}</system-out></testcase>"
