import { describe, expect, test } from 'vitest'
import { createKernel } from './kernel.ts'
import { createProcess } from './process.ts'
import { createRandom } from './random.ts'

const newKernel = (seed = 1) => createKernel({ random: createRandom(seed), strict: true })

describe('the kernel', () => {
  test('runs what is due in the order of time, and what follows from it before the next', async () => {
    const kernel = newKernel()
    kernel.after(5, () => kernel.trace('late'))
    kernel.after(1, () => {
      void Promise.resolve()
        .then(() => null)
        .then(() => kernel.trace('early, then'))
      kernel.trace('early')
    })
    kernel.after(2, () => kernel.trace('cancelled'))()
    kernel.after(9, () => kernel.trace('never'))
    await kernel.advance(8)

    expect([kernel.time, kernel.lines.map((line) => line.trim())]).toEqual([
      8,
      ['1.000 early', '1.000 early, then', '5.000 late'],
    ])
  })

  test('lets the seed decide what comes first at one instant, and the hash tell', async () => {
    const play = async (seed: number) => {
      const kernel = newKernel(seed)
      for (const name of ['a', 'b', 'c']) kernel.after(1, () => kernel.trace(name))
      await kernel.advance(1)
      return [kernel.lines.map((line) => line.at(-1)).join(''), kernel.hash]
    }
    const orders = await Promise.all(Array.from({ length: 40 }, (_, seed) => play(seed)))

    expect(new Set(orders.map(([order]) => order)).size).toBe(6)
    expect(new Set(orders.map(([, hash]) => hash)).size).toBe(6)
    expect(await play(7)).toEqual(orders[7])
  })

  test('sees to it that a dead process does nothing more', async () => {
    const kernel = newKernel()
    const wall = { offset: 0 }
    const process = createProcess(kernel, wall, 1)
    process.clock.after(2, () => kernel.trace('a timer'))
    process.clock.soon(() => kernel.trace('soon'))
    void process.pause(2).then(() => kernel.trace('an answer'))
    kernel.after(1, process.kill)
    const before = process.clock.now()
    await kernel.advance(3)
    wall.offset = -3_600_000

    expect(kernel.lines.map((line) => line.trim())).toEqual(['0.000 soon'])
    expect([process.clock.now() - before, process.clock.mono()]).toEqual([-3_599_997, 3])
  })
})
