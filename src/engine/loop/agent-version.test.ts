import { expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { silentLogger } from '../../domain/logger.ts'
import { createLocalShared } from '../../store/local-shared.ts'
import { testAgent } from '../testing/open-engine.ts'
import { createAgentVersions } from './agent-version.ts'

const settled = () => new Promise((done) => setImmediate(done))
const named = (instructions: string) => ({ ...testAgent, instructions })

test('an agent that somebody works on does not fill the disk: the newest versions stay', async () => {
  const clock = createSystemClock()
  let now = clock.now()
  const shared = createLocalShared(clock)
  const versions = createAgentVersions({
    shared,
    clock: { now: () => (now += 1), mono: clock.mono },
    logger: silentLogger,
  })
  const first = versions.keep(named('first'), [])
  await settled()
  for (let i = 0; i < 250; i += 1) {
    versions.keep(named(`${i}`), [])
    await settled()
  }
  expect(await shared.list('agent_version')).toHaveLength(200)
  expect(await versions.find(first)).toBeNull()

  const large = []
  for (let i = 0; i < 20; i += 1) {
    large.push(versions.keep(named(`${i}${'x'.repeat(900_000)}`), []))
    await settled()
  }
  const chars = (await shared.list('agent_version')).reduce((sum, { value }) => sum + value.length, 0)
  expect(chars).toBeLessThan(10_000_000)
  expect((await versions.find(large.at(-1) ?? ''))?.instructions).toMatch(/^19x/)

  // What went is kept again when it is used again.
  versions.keep(named('first'), [])
  await settled()
  expect((await versions.find(first))?.instructions).toBe('first')
})

test('the tools of an agent are written out once, not at each step', async () => {
  const clock = createSystemClock()
  const versions = createAgentVersions({ shared: createLocalShared(clock), clock, logger: silentLogger })
  let reads = 0
  const parameters = {
    get type() {
      reads += 1
      return 'object'
    },
  }
  const look = () => [{ name: 'look', description: 'Looks.', parameters }]
  const first = versions.keep(testAgent, look())
  await settled()
  const before = reads

  expect(versions.keep(testAgent, look())).toBe(first)
  expect(reads).toBe(before)
  expect(versions.keep(testAgent, [...look(), { name: 'more', description: '', parameters: {} }])).not.toBe(first)
  expect(versions.keep(testAgent, look())).toBe(first)
})

test('a version that another process dropped while it is used here is kept again', async () => {
  const clock = createSystemClock()
  const shared = createLocalShared(clock)
  let mono = 0
  let now = clock.now()
  const time = { now: () => (now += 1), mono: () => mono }
  const here = createAgentVersions({ shared, clock: time, logger: silentLogger })
  const elsewhere = createAgentVersions({ shared, clock: time, logger: silentLogger })
  const digest = here.keep(testAgent, [])
  await settled()
  for (let i = 0; i < 201; i += 1) {
    elsewhere.keep(named(`${i}`), [])
    await settled()
  }
  expect(await here.find(digest)).toBeNull()

  mono += 60 * 60_000
  here.keep(testAgent, [])
  await settled()

  expect(await elsewhere.find(digest)).toMatchObject({ name: testAgent.name })
})

test('records that cannot be read or written are told of once, and a run goes on', async () => {
  const clock = createSystemClock()
  const damaged = new ServerError('config_invalid', 'it is damaged')
  const fails = async () => Promise.reject(damaged)
  const warned: string[] = []
  const logger = { ...silentLogger, warn: (message: string) => void warned.push(message) }
  const shared = { get: fails, list: fails, put: fails, take: fails }
  const versions = createAgentVersions({ shared, clock, logger })
  for (let i = 0; i < 5; i += 1) {
    expect(versions.keep(testAgent, [])).toMatch(/^[0-9a-f]{16}$/)
    await settled()
  }
  expect(warned).toHaveLength(1)
  expect(await versions.find('0123456789abcdef')).toBeNull()
})

test('a record that somebody has changed is not shown', async () => {
  const clock = createSystemClock()
  const shared = createLocalShared(clock)
  const versions = createAgentVersions({ shared, clock, logger: silentLogger })
  const digest = versions.keep(testAgent, [])
  await settled()
  expect(await versions.find(digest)).toMatchObject({ name: testAgent.name })
  const value = JSON.stringify({ digest, expires_at: 1, name: 'another' })
  await shared.put({ kind: 'agent_version', key: digest, value, version: null, expiresAt: null })

  expect(await versions.find(digest)).toBeNull()
})
