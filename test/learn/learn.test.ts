// The shelf Learn can be replayed: each block says what it is, and the files load. `learn.slow.test.ts` replays it.

import { describe, expect, test } from 'vitest'
import { checkAgent } from '../../src/config/agent/load-agents.ts'
import { formatIssue } from '../../src/config/config-error.ts'
import { resolveSettings } from '../../src/config/settings/resolve-settings.ts'
import { createMemoryFiles } from '../../src/config/testing/memory-files.ts'
import { isOnScreen } from './match-screen.ts'
import { fileAfter, parts, readPart, stepsOf } from './pages.ts'
import { createScreen } from './screen.ts'

test('the parts are there, in order', () => {
  expect(parts).toEqual(
    [
      '1-a-first-agent',
      '2-a-tool',
      '3-an-approval',
      '4-a-test',
      '5-your-own-page',
      '6-supervise-a-coding-agent',
      '7-a-team',
      '8-an-agent-that-lasts',
    ].map((name) => `docs/learn/${name}.md`),
  )
})

test.each(parts)('%s has commands with what they print, says what you need and what comes next', (part) => {
  const steps = stepsOf(part)
  const count = (kind: string) => steps.filter((step) => step.kind === kind).length
  expect(count('command')).toBeGreaterThan(1)
  expect(count('output')).toBeGreaterThan(1)
  expect(readPart(part)).toMatch(/^# .+\n\n[\s\S]+?^\*\*You need:\*\* .+[\s\S]+^\*\*Next:\*\* \[.+\]\(.+\)\n$/m)
})

test('after each part, the agent and the settings load', () => {
  const files: Record<string, string> = {}
  for (const part of parts) {
    for (const step of stepsOf(part)) {
      if (step.kind !== 'file') continue
      const path = `/${step.path}`
      files[path] = fileAfter(step, files[path] ?? '')
    }
    const { issues } = checkAgent('/agent.yaml', { env: {}, files: createMemoryFiles(files) })
    expect([part, issues.map(formatIssue)]).toEqual([part, []])
    const settings = files['/quarterdeck.yaml']
    if (settings === undefined) continue
    resolveSettings({ flags: {}, env: {}, file: { path: 'quarterdeck.yaml', text: settings }, onTerminal: false })
  }
})

describe('a screen', () => {
  test('has what is left after colours, moves and overwritten lines', () => {
    const screen = createScreen()
    for (const piece of ['⠙\x1b[1G\x1b[0K\x1b[32mok\x1b[3', '9m  desk\r\n', '> \x1b[3Gcoumt\b\b\x1b[0Jnt\r\n', 'half'])
      screen.write(piece)
    expect(screen.lines()).toEqual(['ok  desk', '> count', 'half'])
  })

  const lines = [
    'Quarterdeck 0.1.0 is ready (0.6 s)',
    '',
    '  qd_okeY3Jny2ef_2uWJGSjSGiHxvvBOsHoM5gdKQR6Iz1Y',
    'Stop it: Ctrl-C',
    '',
  ]

  test('is compared with a page by shape, and what the page leaves out may be anything', () => {
    const kept = new Map<string, string>()
    const shown = 'Quarterdeck 0.2.0 is ready (1.4 s)\n…\n  qd_4fXo…\nStop … Ctrl-C\n'
    expect(isOnScreen(shown, lines, kept, { whole: true })).toBe(true)
    expect(kept).toEqual(new Map([['qd_4fXo…', 'qd_okeY3Jny2ef_2uWJGSjSGiHxvvBOsHoM5gdKQR6Iz1Y']]))
  })

  test.each(['Stop it: Ctrl-D\n', 'Stop it:\n', 'qd_4fXo…\n', 'is ready (1.4 s)\nStop it: Ctrl-C\n'])(
    'does not show %j',
    (shown) => {
      expect(isOnScreen(shown, lines, new Map(), { whole: false })).toBe(false)
    },
  )
})
