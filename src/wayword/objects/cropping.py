"""Where the object is in a photo, and the square that is cut out around it.

    I     (H, W, 3)   uint8 RGB
    box   x0, y0, x1, y1 in pixels, the right and lower edges outside; x to the right, y down

A ``Cropper`` finds the box. ``SaliencyCropper`` is the classical one: what differs from the border of the photo,
hangs together and lies near the middle. It needs no weights and is what remains if there are none.
"""
