"""What all trainings share: the loop, run folders and their settings, stages in processes of their own, .onnx files."""
