"""The compiled loop that colours the geometries of `rooms3d`: importing this file imports numba."""

from __future__ import annotations

from numpy import uint8, uint16

from unweave.compiled import kernel


@kernel
def colour(planes, geometries, colours, sums, images):
    """Write images (n, pixels, channels) of geometries (n,) with colours (n, 3, channels) in 256ths, uint16.

    planes, (geometry, 4, parts, pixels), is the light of floor, walls, object and highlight in each part of a pixel. A
    pixel is the rounded mean of its parts; sums, (pixels,) uint16, is working memory. No number passes 16 bits, because
    the planes of a part add up to at most 255: integers are exact, and every machine draws the same images.
    """
    n, pixels, channels = images.shape
    parts = planes.shape[2]  # 1 or 4
    half = bits = uint16(parts // 2)  # of four parts: half is two, and dividing is shifting by two bits
    for i in range(n):
        light = planes[geometries[i]]
        for channel in range(channels):
            floor, walls, thing = colours[i, 0, channel], colours[i, 1, channel], colours[i, 2, channel]
            for x in range(pixels):
                sums[x] = half
            for part in range(parts):
                for x in range(pixels):
                    lit = light[0, part, x] * floor + light[1, part, x] * walls + light[2, part, x] * thing
                    sums[x] += uint16((uint16(lit) >> uint16(8)) + light[3, part, x])
            for x in range(pixels):
                images[i, x, channel] = uint8(sums[x] >> bits)
