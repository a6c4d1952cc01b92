import { expect, test, vi } from 'vitest'
import type { Route, RouteGroup } from '../route.ts'
import { createLaterRouter } from './later-router.ts'

const route = (path: string): Route => ({
  method: 'GET',
  path,
  door: null,
  role: 'user',
  body: 'none',
  summary: path,
  handle: async () => {},
})
const group = (segments: string[], ...paths: string[]): RouteGroup => ({
  segments,
  load: vi.fn(async () => paths.map(route)),
})
const open = (...groups: RouteGroup[]) => createLaterRouter([route('/health'), route('/')], groups, new Set())

test('a path loads the groups that have its first segment, and no other, once', async () => {
  const [one, two] = [group(['v1', ''], '/v1/models'), group(['mcp'], '/mcp')]
  const router = open(one, two)

  await Promise.all([router.load('/v1/models'), router.load('/v1')])
  expect(router.load('/v1/nothing')).toBe(null)
  expect(router.find('GET', '/v1/models').route.path).toBe('/v1/models')
  expect(two.load).not.toHaveBeenCalled()
})

test('a route that is here from the beginning loads nothing, unless a group shares its segment', async () => {
  const [one, two] = [group([''], '/:name'), group([], '/sessions')]
  const router = open(one, two)

  expect(router.load('/health')).toBe(null)
  await router.load('/')
  expect([one, two].map(({ load }) => vi.mocked(load).mock.calls.length)).toEqual([1, 0])
})

test('a path that no group names loads those without names first, and all if they do not have it', async () => {
  const [one, two] = [group(['v1'], '/v1/models'), group([], '/sessions/:id')]
  const router = open(one, two)

  await router.load('/sessions/7')
  expect(router.find('GET', '/sessions/7').params).toEqual({ id: '7' })
  expect(one.load).not.toHaveBeenCalled()
  await router.load('/nowhere')
  expect(router.find('GET', '/v1/models').route.path).toBe('/v1/models')
  expect(router.load('/nowhere')).toBe(null)
})

test('a segment with a slash belongs to several groups, whichever was asked for first', async () => {
  const [one, two] = [group(['v1', 'agents/'], '/agents/:name/run', '/v1'), group([], '/agents/:name')]
  for (const first of ['/agents/a', '/agents/a/run', '/v1', '/other']) {
    const router = open(one, two)

    await router.load(first)
    await router.load('/agents/a')

    expect(router.find('GET', '/agents/a').params).toEqual({ name: 'a' })
    expect(router.find('GET', '/agents/a/run').params).toEqual({ name: 'a' })
  }
})

test('what could not be loaded is tried again', async () => {
  const [one] = [group(['v1'], '/v1/models')]
  vi.mocked(one.load).mockRejectedValueOnce(new Error('the disk is away'))
  const router = open(one)

  await expect(router.load('/v1/models')).rejects.toThrow('the disk is away')
  await router.load('/v1/models')
  expect(router.find('GET', '/v1/models').route.path).toBe('/v1/models')
})
