"""A user's own run in the place of one of ours, judged by the claims of a paper."""

from attnflow.runs.user_run.judge import is_about as is_about
from attnflow.runs.user_run.judge import judge_own_run as judge_own_run
from attnflow.runs.user_run.lacking import JudgeError as JudgeError
