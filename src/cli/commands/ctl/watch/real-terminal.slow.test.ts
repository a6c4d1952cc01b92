// What is really on the screen of tmux and of xterm. Where one of them is missing, its tests are skipped, and a line says how to get it.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { exactText } from '../../../terminal/terminal-text.ts'
import { tempFolder } from '../../../testing/temp-folder.ts'

const script = join(import.meta.dirname, 'testing', 'draw-lines.ts')
const ROWS = 60
const LOCALE = { LC_ALL: 'C.UTF-8' }

const has = (...programs: string[]): boolean =>
  programs.every((program) => spawnSync('which', [program], { stdio: 'ignore' }).status === 0)
const hasTmux = has('tmux')
const hasXterm = has('xterm', 'Xvfb')
if (!hasTmux) process.stderr.write('The tests in tmux are skipped. To run them: apt-get install tmux\n')
if (!hasXterm) process.stderr.write('The tests in xterm are skipped. To run them: apt-get install xterm xvfb\n')

/** Lines that end exactly at each edge, and everything whose width terminals disagree about, or that they leave out. */
const hostile = (columns: number): string[] => [
  ...[-2, -1, 0, 1].map((more) => `+${'x'.repeat(columns + more - '= 1000'.length - 1)}= 1000`),
  `-${'漢字'.repeat(columns / 2)}= 1000`,
  `+a${'漢字'.repeat(columns / 2)}= 1000`,
  `+${'👍'.repeat(columns / 2)}= 1000`,
  `+👨‍👩‍👧‍👦👩🏽‍❤️‍💋‍👨🏿 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇩🇪 ❤️ 1️⃣ = 1000`,
  `+${'e\u0301'.repeat(columns / 2)}= 1000`,
  `+a\u0301\u0302\u0303\u0304 = 1000`,
  '\u0301orphan = 1000',
  `+${'é±я→§'.repeat(columns / 5)}= 1000`,
  `+क्षि ต้น 각 \u{1fae9} \u0378 \u{31350} = 1000`,
  `+\tone\t${'y'.repeat(columns - 24)}\t= 1000`,
]

/**
 * Nothing but where lines are broken may differ, and how wide a tab is. xterm prints U+FFFF for the second cell of a wide
 * character, and makes one character of `e` and its accent.
 */
const withoutBreaks = (text: string): string => text.replace(/[\s\uffff]+/g, '').normalize()
const expected = (lines: readonly string[]): string => withoutBreaks(exactText(lines.join('\n')))

async function whenThere(path: string): Promise<string> {
  await expect.poll(() => existsSync(path) && readFileSync(path, 'utf8')).toBeTruthy()
  return readFileSync(path, 'utf8')
}

describe.each([40, 80, 81])('%i columns', (columns) => {
  const prepare = async () => {
    const folder = await tempFolder()
    const [source, ready] = [join(folder, 'lines.txt'), join(folder, 'ready')]
    writeFileSync(source, exactText(hostile(columns).join('\n')))
    return { folder, source, ready }
  }

  test.skipIf(!hasTmux)('tmux shows every character', async () => {
    const { folder, source, ready } = await prepare()
    const tmux = (...args: string[]): string =>
      execFileSync('tmux', ['-u', '-S', join(folder, 's'), '-f', '/dev/null', ...args], {
        encoding: 'utf8',
        env: { ...process.env, ...LOCALE },
      })
    onTestFinished(() => void tmux('kill-server'))
    tmux('new-session', '-d', '-x', `${columns}`, '-y', `${ROWS}`, process.execPath, script, source, ready)
    expect(await whenThere(ready)).toBe(`${columns}`)
    await expect.poll(() => withoutBreaks(tmux('capture-pane', '-p'))).toBe(expected(hostile(columns)))
  })

  test.skipIf(!hasXterm)('xterm shows every character', async () => {
    const { folder, source, ready } = await prepare()
    const printed = join(folder, 'printed')
    const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1600x1200x24', '-nolisten', 'tcp'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    })
    onTestFinished(() => void server.kill())
    const display = await new Promise<string>((resolve) =>
      server.stdio[3]?.once('data', (chunk) => resolve(String(chunk).trim())),
    )
    const settings = [
      `printerCommand: cat > ${printed}`,
      'printAttributes: 0',
      'printerFormFeed: false',
      'printerNewLine: true',
    ]
    const xterm = spawn(
      'xterm',
      [
        ...['-u8', '-geometry', `${columns}x${ROWS}`, '-fn', 'fixed'],
        ...settings.flatMap((one) => ['-xrm', `XTerm*${one}`]),
        ...['-e', process.execPath, script, source, ready],
      ],
      { env: { ...process.env, ...LOCALE, DISPLAY: `:${display}` }, stdio: 'ignore' },
    )
    onTestFinished(() => void xterm.kill())
    expect(await whenThere(ready)).toBe(`${columns}`)
    await expect
      .poll(() => withoutBreaks(existsSync(printed) ? readFileSync(printed, 'utf8') : ''))
      .toBe(expected(hostile(columns)))
  })
})
