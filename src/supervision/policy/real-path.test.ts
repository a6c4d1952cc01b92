import { expect, test } from 'vitest'
import { createRealPath } from './real-path.ts'

test('lookups of one call are limited, and the same path is looked up once', () => {
  const realPath = createRealPath()
  const lookUp = (count: number, name: (i: number) => string) => {
    for (let i = 0; i < count; i += 1) realPath(`/nowhere-${name(i)}/x`)
  }
  lookUp(20_000, () => 'always')
  expect(() => lookUp(10_000, String)).toThrow('too many')
  expect(createRealPath()('/nowhere-9999/x')).toBe('/nowhere-9999/x')
})

test
  .skipIf(process.platform !== 'linux')
  .each(['/proc/self/cwd/x.env', '/proc/self/root/etc', '/dev/fd/3', '/proc/1/cwd'])(
  '%s is something else for the process of a tool',
  (path) => {
    expect(() => createRealPath()(path)).toThrow()
  },
)
