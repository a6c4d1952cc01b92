import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { tempFolder } from '../../cli/testing/temp-folder.ts'
import { instantClock } from '../../cli/testing/test-io.ts'
import { silentLogger } from '../../domain/logger.ts'
import { type LogLine, recordingLogger } from '../../domain/testing/recording-logger.ts'
import { createTestClock } from '../../log/testing/open-log.ts'
import { judgeEffective } from './effective-policy.ts'
import { limits } from './testing/policies.ts'
import { createPolicyWatch } from './watch-policy.ts'

const ALLOWS = '{"enabled": true, "tools": ["Read"]}'
const ALLOWS_NOT = '{"enabled": true, "tools": [    ]}'
const reading = { toolName: 'Read', filePath: null, command: null, riskLevel: 'low', guarded: null } as const

function put(root: string, text: string, file = '.quarterdeck/policy.json'): void {
  mkdirSync(join(root, file, '..'), { recursive: true })
  // As editors do it: a new file takes the place of the old one.
  writeFileSync(join(root, `${file}.new`), text)
  renameSync(join(root, `${file}.new`), join(root, file))
}

function open(clock = instantClock(), log = silentLogger) {
  const seen: string[] = []
  const watch = createPolicyWatch({
    clock,
    log,
    onChange: (_root, found) => void seen.push(found.state === 'text' ? found.text : found.state),
  })
  onTestFinished(() => watch.close())
  const until = (expected: string[]) =>
    vi.waitFor(() => expect(seen).toEqual(expected), { timeout: 60_000, interval: 5 })
  return { watch, seen, until }
}

describe('the watch on policy files', () => {
  test('sees a folder and a file appear, change and disappear', async () => {
    const root = await tempFolder()
    const { watch, until } = open()
    watch.watch(root)
    put(root, ALLOWS)
    await until([ALLOWS])
    put(root, ALLOWS_NOT)
    await until([ALLOWS, ALLOWS_NOT])
    writeFileSync(join(root, '.quarterdeck/policy.json'), 'x')
    await until([ALLOWS, ALLOWS_NOT, 'x'])
    rmSync(join(root, '.quarterdeck'), { recursive: true })
    await until([ALLOWS, ALLOWS_NOT, 'x', 'none'])
    put(root, ALLOWS, '.monocoque/settings.json')
    await until([ALLOWS, ALLOWS_NOT, 'x', 'none', ALLOWS])
    put(root, ALLOWS_NOT)
    await until([ALLOWS, ALLOWS_NOT, 'x', 'none', ALLOWS, ALLOWS_NOT])
  })

  test('reads the disk at every judgement, whatever the events say', async () => {
    const root = await tempFolder()
    put(root, ALLOWS)
    // Its timers never fire, so no event ever leads to a look.
    const { watch, seen } = open(createTestClock())
    watch.watch(root)
    const judge = () =>
      judgeEffective(watch.effective(root, { text: ALLOWS, sha256: '' }), reading, limits).autoApproved
    expect(judge()).toBe(true)
    for (let i = 0; i < 20; i += 1) {
      // In place and of the same size, within one tick of the disk's clock.
      writeFileSync(join(root, '.quarterdeck/policy.json'), ALLOWS_NOT)
      expect(judge()).toBe(false)
      writeFileSync(join(root, '.quarterdeck/policy.json'), ALLOWS)
      expect(judge()).toBe(true)
    }
    expect(seen).toHaveLength(40)
  })

  test('says nothing about what was there before, or after it was closed', async () => {
    const [one, other] = [await tempFolder(), await tempFolder()]
    put(one, ALLOWS)
    const { watch, seen } = open()
    watch.watch(one)
    watch.watch(one)
    watch.watch(other)
    watch.effective(one, null)
    expect(seen).toEqual([])
    put(one, ALLOWS_NOT)
    watch.effective(one, null)
    expect(seen).toEqual([ALLOWS_NOT])
    watch.close()
    put(one, ALLOWS)
    put(other, ALLOWS)
    watch.effective(one, null)
    watch.effective(other, null)
    watch.watch(one)
    put(one, ALLOWS_NOT)
    watch.effective(one, null)
    expect(seen).toEqual([ALLOWS_NOT])
  })

  test('is bounded: further workspaces are read when they are needed', async () => {
    const root = await tempFolder()
    const lines: LogLine[] = []
    const { watch, seen } = open(instantClock(), recordingLogger(lines))
    for (let i = 0; i < 70; i += 1) {
      mkdirSync(join(root, `w${i}`))
      watch.watch(join(root, `w${i}`))
    }
    expect(lines.map(({ message }) => message)).toEqual([
      'Only 64 workspaces are watched. The policies of others are read when they are needed.',
    ])
    put(join(root, 'w69'), ALLOWS)
    expect(watch.effective(join(root, 'w69'), null).state).toBe('unpinned')
    expect(seen).toEqual([])
  })

  test('of a folder that does not exist watches nothing and does no harm', () => {
    const { watch } = open()
    watch.watch('/no/such/folder')
    expect(watch.effective('/no/such/folder', null)).toEqual({ state: 'none' })
  })
})
