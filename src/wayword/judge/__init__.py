"""People judge flights: a blind questionnaire, the answers to it, and what they say (the paper's Section 7)."""

from wayword.judge.agreement import krippendorff_alpha
from wayword.judge.answers import Answer, AnswerBook, read_answers
from wayword.judge.study import Study, StudyItem, design

__all__ = ["Answer", "AnswerBook", "Study", "StudyItem", "design", "krippendorff_alpha", "read_answers"]
