"""The object database: photos and phrases in, exemplars of things nobody was trained on out."""

from wayword.objects.checks import CheckConfig, CheckReport, Finding, check_objects
from wayword.objects.cropping import Box, CropConfig, Cropper, square_crop
from wayword.objects.database import ObjectDatabase, TaughtObject
from wayword.objects.exemplars import Exemplar, view_photo, view_photos, view_pixels
from wayword.objects.saliency import SaliencyCropper
from wayword.objects.similarity import Similarity, VectorSimilarity, colour_histograms, default_similarity
from wayword.objects.store import TeachingResult, need_photo, remove, renew, teach

__all__ = [
    "Box",
    "CheckConfig",
    "CheckReport",
    "CropConfig",
    "Cropper",
    "Exemplar",
    "Finding",
    "ObjectDatabase",
    "SaliencyCropper",
    "Similarity",
    "TaughtObject",
    "TeachingResult",
    "VectorSimilarity",
    "check_objects",
    "colour_histograms",
    "default_similarity",
    "need_photo",
    "remove",
    "renew",
    "square_crop",
    "teach",
    "view_photo",
    "view_photos",
    "view_pixels",
]
