import jsQr from 'jsqr'
import { expect, test } from 'vitest'
import { qrPicture } from './AddDevice.tsx'

const SCALE = 4
const FRAME = 4

/** What a camera sees. The path goes around dark areas, and holes in them are areas of their own: a point inside an odd number is dark. */
function pixelsOf({ size, path }: { size: number; path: string }): { data: Uint8ClampedArray; side: number } {
  const side = (size + 2 * FRAME) * SCALE
  const data = new Uint8ClampedArray(side * side * 4).fill(255)
  const edges = edgesOf(path)
  for (let y = 0; y < size; y += 1)
    for (let x = 0; x < size; x += 1) {
      const crossed = edges.filter(([at, from, to]) => at > x + 0.5 && from < y + 0.5 && to > y + 0.5).length
      if (crossed % 2 === 0) continue
      for (let i = 0; i < SCALE * SCALE; i += 1) {
        const px = (x + FRAME) * SCALE + (i % SCALE)
        const py = (y + FRAME) * SCALE + Math.floor(i / SCALE)
        data.fill(0, (py * side + px) * 4, (py * side + px) * 4 + 3)
      }
    }
  return { data, side }
}

/** The upright lines of a path of right angles: where, from, to. */
function edgesOf(path: string): [at: number, from: number, to: number][] {
  const edges: [number, number, number][] = []
  let [x, y, startX, startY] = [0, 0, 0, 0]
  const to = (nextX: number, nextY: number) => {
    if (nextY !== y) edges.push([x, Math.min(y, nextY), Math.max(y, nextY)])
    ;[x, y] = [nextX, nextY]
  }
  for (const [, letter = '', rest = ''] of path.matchAll(/([a-zA-Z])([^a-zA-Z]*)/g)) {
    const [a = 0, b = 0] = rest
      .trim()
      .split(/[ ,]+|(?<=\d)(?=-)/)
      .map(Number)
    if (letter === 'M') [x, y, startX, startY] = [a, b, a, b]
    else if (letter === 'L') to(a, b)
    else if (letter === 'H') to(a, y)
    else if (letter === 'V') to(x, a)
    else if (letter === 'h') to(x + a, y)
    else if (letter === 'v') to(x, y + a)
    else if (letter.toLowerCase() === 'z') to(startX, startY)
    else throw new Error(`unknown: ${letter}`)
  }
  return edges
}

test.each([
  'http://localhost:8000/console#code=nQ2cSgm3vXrVlxk3sGv1Fw',
  `https://deck.example.org/${'a'.repeat(180)}/console#code=nQ2cSgm3vXrVlxk3sGv1Fw&keep`,
])('a camera reads the link in the picture: %s', (link) => {
  const { data, side } = pixelsOf(qrPicture(link))

  expect(jsQr(data, side, side)?.data).toBe(link)
})
