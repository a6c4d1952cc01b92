import { expect, test } from 'vitest'
import { isWithin } from './is-within.ts'

test('a path is inside a folder, or it is not', () => {
  const lies = (path: string, folder: string) => isWithin(path, folder)

  expect([lies('/a', '/a'), lies('/a/b/c', '/a'), lies('/a', '/'), lies('/a/..b', '/a')]).toEqual(Array(4).fill(true))
  expect([lies('/', '/a'), lies('/ab', '/a'), lies('/b/a', '/a'), lies('/..b', '/a')]).toEqual(Array(4).fill(false))
})
