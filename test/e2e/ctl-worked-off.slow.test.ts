// A morning's inbox, worked off at a terminal with keys alone: 40 items of five agents. The keys are counted, because each one more is a
// reason to stop reading.

import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openConsoleHouse } from '../console/support/console-house.ts'
import { fillInbox } from '../console/support/morning-inbox.ts'

const hasTmux = spawnSync('which', ['tmux'], { stdio: 'ignore' }).status === 0
const program = resolve(import.meta.dirname, '../../bin/quarterdeck.js')
/** As fast as a person looks and presses. */
const LOOK_MS = 200
/** A key that came too early is pressed again, and counted. */
const AGAIN_MS = 10_000
/** 2 groups and 6 low, 10 high, 4 critical with a typed yes and Enter, 5 that want a word and Enter, and the silent agent. */
const MOST_KEYS = 2 + 6 + 10 + 4 * 5 + 5 * 2 + 1 + 6

const inTmux = test.skipIf(!hasTmux)

inTmux.each([60, 80, 120])(
  '40 items of five agents are worked off by keys at %i columns',
  { timeout: 600_000 },
  async (columns) => {
    await using house = await openConsoleHouse({ stallSeconds: 10 })
    await fillInbox(house)
    const { items } = await house.client.inbox({ limit: 100 })
    // On a slow machine the silent agent is counted as gone before a key answers its alert. That nothing waits at the end counts for it.
    const asked = items.flatMap(({ id, kind }) => (kind === 'alert' ? [] : [id]))
    const root = dirname(house.dataDir)
    writeFileSync(join(root, 'passphrase'), 'correct horse battery\n', { mode: 0o600 })
    const tmux = (...args: string[]): string =>
      execFileSync('tmux', ['-u', '-S', join(root, 's'), '-f', '/dev/null', ...args], {
        encoding: 'utf8',
        env: { ...process.env, LC_ALL: 'C.UTF-8' },
      })
    // Its socket is in the folder of the house, so it ends before the house does.
    using _terminal = { [Symbol.dispose]: () => void spawnSync('tmux', ['-S', join(root, 's'), 'kill-server']) }
    const env = [
      `QUARTERDECK_CONFIG_DIR=${join(root, 'config')}`,
      `QUARTERDECK_OPERATOR_TOKEN=${house.operator}`,
      'NO_COLOR=1',
    ]
    const command = `env -u XDG_RUNTIME_DIR ${env.join(' ')} ${process.execPath} ${program} ctl watch --data-dir ${house.dataDir} --passphrase-fd 3 3<${join(root, 'passphrase')}; sleep 600`
    tmux('new-session', '-d', '-x', `${columns}`, '-y', '30', 'sh', '-c', command)
    const screen = (): string[] => tmux('capture-pane', '-p').split('\n')
    const pressed: string[] = []
    const shown: string[] = []

    async function settled(): Promise<string[]> {
      for (let before = ''; ; ) {
        await sleep(LOOK_MS)
        const now = screen()
        if (now.join('\n') === before && !before.includes('One moment.')) return now
        before = now.join('\n')
      }
    }

    async function press(...keys: string[]): Promise<void> {
      const before = screen().join('\n')
      pressed.push(...keys)
      tmux('send-keys', ...keys)
      for (let waited = 0; waited < AGAIN_MS && screen().join('\n') === before; waited += LOOK_MS) await sleep(LOOK_MS)
    }

    await expect.poll(() => screen()[0] ?? '', { timeout: 60_000 }).toMatch(/\b(?:40|39) wait/)
    for (;;) {
      const now = await settled()
      const [head = ''] = now
      const last = now.filter((line) => line !== '').at(-1) ?? ''
      shown.push(now.join('\n'))
      // The passphrase is asked for outside of the screen.
      if (!/^(Quarterdeck|lines) /.test(head)) continue
      for (const line of now) expect(line.length).toBeLessThan(columns)
      if (head.includes('Nothing waits')) break
      if (pressed.length > MOST_KEYS) break
      if (last.includes('type yes')) await press('y', 'e', 's', 'Enter')
      else if (last.includes('(Enter for none)')) await press('Enter')
      else if (head.startsWith('lines')) await press(head.includes('all seen') ? 'a' : 'Space')
      else if (now.some((line) => /^(Question from an agent|Agent stands by)/.test(line))) await press('c')
      else if (now.some((line) => line.startsWith('Silent agent'))) await press('i')
      else await press('a')
    }

    expect(pressed.length, shown.slice(-3).join('\n')).toBeLessThanOrEqual(MOST_KEYS)
    const done = await house.client.inbox({ status: 'done', limit: 100 })
    const byKeys = new Set(done.items.flatMap(({ id, decided_channel }) => (decided_channel === 'ctl' ? [id] : [])))
    expect(asked.filter((id) => !byKeys.has(id))).toEqual([])
  },
)
