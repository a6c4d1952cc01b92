// Pictures that are made to harm the reader, or look like it. All of them are small.

import { crc32 } from 'node:zlib'
import { scan } from './scan.ts'

interface HostilePicture {
  name: string
  mimeType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  bytes: () => Buffer | Promise<Buffer>
  /** The start of the sentence that people get. */
  refusal: string
}

const tooLarge = 'The picture is too large: at most 100 megapixels can be read.'
const damaged = 'The picture is damaged or incomplete'

export const hostilePictures: HostilePicture[] = [
  {
    name: 'a PNG that declares an enormous size',
    mimeType: 'image/png',
    bytes: () => pngOfSize(60_000, 60_000),
    refusal: tooLarge,
  },
  {
    name: 'a JPEG that declares an enormous size',
    mimeType: 'image/jpeg',
    bytes: () => jpegOfSize(65_000, 65_000),
    refusal: tooLarge,
  },
  {
    name: 'a GIF that declares an enormous size',
    mimeType: 'image/gif',
    bytes: () => gifOfSize(65_535, 65_535),
    refusal: tooLarge,
  },
  {
    name: 'a WebP that declares an enormous size',
    mimeType: 'image/webp',
    bytes: () => webpOfSize(16_000, 16_000),
    refusal: tooLarge,
  },
  {
    name: 'half a PNG',
    mimeType: 'image/png',
    bytes: async () => half(await scan('Half of it').png().toBuffer()),
    refusal: damaged,
  },
  {
    name: 'half a JPEG',
    mimeType: 'image/jpeg',
    bytes: async () => half(await scan('Half of it').jpeg().toBuffer()),
    refusal: damaged,
  },
  {
    name: 'a GIF that is a script',
    mimeType: 'image/gif',
    bytes: () => Buffer.from('GIF89a/*\0\0\0*/=1;alert(1)'),
    refusal: damaged,
  },
]

const half = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length / 2)

/** A header that declares a size, and hardly any data. */
function pngOfSize(width: number, height: number): Buffer {
  const chunk = (name: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(name), data])
    const frame = Buffer.alloc(8)
    frame.writeUInt32BE(data.length)
    frame.writeUInt32BE(crc32(body), 4)
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
  }
  const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0])
  head.writeUInt32BE(width)
  head.writeUInt32BE(height, 4)
  const mark = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([mark, chunk('IHDR', head), chunk('IDAT', Buffer.from('x')), chunk('IEND', Buffer.alloc(0))])
}

function jpegOfSize(width: number, height: number): Buffer {
  const frame = Buffer.from('ffc0000b08000000000101110000', 'hex').subarray(0, 13)
  frame.writeUInt16BE(height, 5)
  frame.writeUInt16BE(width, 7)
  const scanHead = Buffer.from('ffda0008010100003f00', 'hex')
  return Buffer.concat([Buffer.from('ffd8', 'hex'), frame, scanHead, Buffer.from('00ffd9', 'hex')])
}

function gifOfSize(width: number, height: number): Buffer {
  const head = Buffer.alloc(7)
  head.writeUInt16LE(width)
  head.writeUInt16LE(height, 2)
  const frame = Buffer.alloc(10)
  frame[0] = 0x2c
  frame.writeUInt16LE(width, 5)
  frame.writeUInt16LE(height, 7)
  const colours = Buffer.from([0, 0, 0, 255, 255, 255])
  head[4] = 0x80
  return Buffer.concat([Buffer.from('GIF89a'), head, colours, frame, Buffer.from('02024c01003b', 'hex')])
}

function webpOfSize(width: number, height: number): Buffer {
  const bits = BigInt(width - 1) | (BigInt(height - 1) << 14n)
  const data = Buffer.alloc(8)
  data[0] = 0x2f
  data.writeUInt32LE(Number(bits), 1)
  const chunk = Buffer.concat([Buffer.from('WEBPVP8L'), uint32(5), data.subarray(0, 6)])
  return Buffer.concat([Buffer.from('RIFF'), uint32(chunk.length), chunk])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
