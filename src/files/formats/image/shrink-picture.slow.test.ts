import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shrinkPicture } from './shrink-picture.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shrink-picture-'))
})
afterAll(() => rm(folder, { recursive: true }))

const plain = (width: number, height: number, background: string) =>
  sharp({ create: { width, height, channels: 3, background } })

test('a photo of 48 megapixels becomes a small upright JPEG without data of the camera', async () => {
  const path = join(folder, 'photo.jpg')
  // The camera lay on its side: the left side of the stored picture is the top.
  const left = await plain(4_000, 6_000, '#f00').png().toBuffer()
  const photo = plain(8_000, 6_000, '#00f').composite([{ input: left, left: 0, top: 0 }])
  await photo
    .withExif({ IFD0: { Make: 'Camera' } })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toFile(path)
  const smaller = await shrinkPicture(path, 1_000_000)

  const { width, height, format, exif, orientation } = await sharp(smaller).metadata()
  expect({ width, height, format, exif, orientation }).toEqual({ width: 1_920, height: 2_560, format: 'jpeg' })
  const { data } = await sharp(smaller)
    .resize({ width: 1, height: 2, fit: 'fill' })
    .raw()
    .toBuffer({ resolveWithObject: true })
  const [top, bottom] = [[...data.subarray(0, 3)], [...data.subarray(3, 6)]]
  expect([top, bottom].map((colour) => colour.indexOf(Math.max(...colour)))).toEqual([0, 2])
})

test('a picture is shrunk until it fits', async () => {
  const path = join(folder, 'noise.png')
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const
  await sharp({ create: { width: 1_500, height: 1_000, channels: 3, background: '#888', noise } }).toFile(path)
  const smaller = await shrinkPicture(path, 400_000)

  expect(smaller.length).toBeLessThanOrEqual(400_000)
  expect((await sharp(smaller).metadata()).width).toBeLessThan(1_500)
})

test('a file that is not a picture is refused with a sentence', async () => {
  await expect(shrinkPicture(join(folder, 'none'), 1)).rejects.toMatchObject({ code: 'file_unreadable' })
})
