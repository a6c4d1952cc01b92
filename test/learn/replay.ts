// Takes the steps of the pages as a reader does: at a terminal, from an empty home folder, in the order in which they are written.

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { openTerminal, type Terminal } from '../terminal.ts'
import { isOnScreen, type Kept } from './match-screen.ts'
import { fileAfter, type Step } from './pages.ts'
import { createScreen, type Screen } from './screen.ts'
import { tryPage } from './try-page.ts'

export interface Reader {
  /** Throws with the page and the line if what happens is not what the page says. Ends what was started. */
  take(steps: readonly Step[]): Promise<void>
}

interface ReaderOptions {
  /** An empty folder. */
  folder: string
  /** The Node that the reader has. */
  node: string
  /** Where the program comes from, and its place: `node_modules` with the packed one, or a clone of the repository. */
  from: { kind: 'packed' | 'clone'; place: string }
}

/** As long as nobody needs to know that the machine is busy. */
const PATIENCE_MS = 120_000
const PASSPHRASE = 'five brass lamps'
/** What a program asks before it reads a line, and what the reader types there. ⏎ ends such a line on a page, ● hides what is typed. */
const TYPED = /^(> |.*?(?:Allow it\?|\(the agent is told\)|\[y\/N\]|:) )(.*?) ?⏎$/

export async function createReader({ folder, node, from }: ReaderOptions): Promise<Reader> {
  const [home, bin, state] = [join(folder, 'ada'), join(folder, 'bin'), join(folder, 'shell-state')]
  for (const made of [home, bin]) mkdirSync(made)
  symlinkSync(node, join(bin, 'node'))
  if (from.kind === 'clone') symlinkSync(from.place, join(home, 'quarterdeck'))
  writeFileSync(state, `cd '${home}'\n`)
  // The pages have the usual ports, which may be taken here.
  const ports: [shown: string, real: string][] = [
    ['8000', await freePort()],
    ['8080', await freePort()],
  ]
  const env = {
    ...{ PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`, HOME: home, TERM: 'xterm', LANG: 'C.UTF-8', TZ: 'UTC' },
    ...{ QUARTERDECK_PORT: ports[0]?.[1] ?? '', npm_config_update_notifier: 'false', npm_config_audit: 'false' },
  }
  const kept: Kept = new Map()
  const terminals = new Map<string, Running>()

  /** From the page to here. */
  function here(text: string): string {
    const filled = [...kept].reduce((all, [shown, real]) => all.replaceAll(shown, real), text)
    return ports.reduce((all, [shown, real]) => all.replace(new RegExp(`\\b${shown}\\b`, 'g'), real), filled)
  }
  /** And back. */
  const linesOf = (screen: Screen): string[] =>
    screen
      .lines()
      .map((line) => ports.reduce((all, [shown, real]) => all.replaceAll(real, shown), line))
      .map((line) => line.replaceAll(home, '/home/ada').replaceAll(from.place, '/home/ada/quarterdeck'))

  /** Where the reader is after the commands so far. */
  const cwd = (): string => /^cd '?(.*?)'?$/m.exec(readFileSync(state, 'utf8'))?.[1] ?? home

  /** Folder and variables last from one command to the next, but not into a terminal of its own. */
  function open(command: string, name: string | null): Running {
    const script = join(folder, `commands-${name ?? 'usual'}`)
    const save = `trap '{ export -p; echo "cd '"'"'$PWD'"'"'"; } > "${state}"' EXIT`
    writeFileSync(script, `. '${state}'\n${name === null ? save : ''}\nset -e\n${here(command)}`)
    const screen = createScreen()
    const terminal = openTerminal(`bash '${script}'`, { cwd: home, env, onData: screen.write })
    return { terminal, screen }
  }

  async function run({ text, fails }: Step & { kind: 'command' }, shown: string | null): Promise<void> {
    const running = open(text, null)
    const { terminal, screen } = running
    let seen = 0
    for (const line of (shown ?? '').split('\n')) {
      const [, prompt, typed] = TYPED.exec(line) ?? []
      if (prompt === undefined || typed === undefined) continue
      const isAsked = () => screen.lines().length > seen && linesOf(screen).at(-1) === prompt.trimEnd()
      await until(isAsked, running, `the question “${prompt}”`)
      seen = screen.lines().length
      terminal.type(`${/^●+$/.test(typed) ? PASSPHRASE : here(typed)}\r`)
    }
    const code = await terminal.ended
    if (shown !== null) compare(shown, screen, true)
    expect({ code: fails ? code !== 0 : code, said: linesOf(screen).join('\n') }).toMatchObject({
      code: fails ? true : 0,
    })
  }

  function compare(shown: string, screen: Screen, whole: boolean): void {
    const expected = shown.replaceAll(' ⏎', '').replace(/ ●+/g, '')
    const lines = linesOf(screen)
    if (!isOnScreen(expected, lines, kept, { whole })) expect(lines.join('\n').trim()).toBe(expected.trim())
  }

  async function until(isThere: () => boolean, { terminal, screen }: Running, what: string): Promise<void> {
    let hasEnded = false
    void terminal.ended.then(() => {
      hasEnded = true
    })
    const end = Date.now() + PATIENCE_MS
    while (!isThere()) {
      if (hasEnded || Date.now() > end)
        throw new Error(`${what} never came. The screen:\n${linesOf(screen).join('\n')}`)
      await pause(20)
    }
  }

  async function stop(name: string): Promise<void> {
    await terminals.get(name)?.terminal.stop()
    terminals.delete(name)
  }

  async function take(step: Step, next: Step | undefined): Promise<void> {
    switch (step.kind) {
      case 'file': {
        const path = join(cwd(), step.path)
        mkdirSync(dirname(path), { recursive: true })
        const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
        return writeFileSync(path, fileAfter({ ...step, text: here(step.text) }, before))
      }
      case 'command': {
        const { terminal: name, only } = step
        if (only !== null && only !== from.kind) return
        // No registry has it. Everything else of `npm install` is there already.
        if (only === 'packed') return symlinkSync(from.place, join(cwd(), 'node_modules'))
        if (name !== null) {
          await stop(name)
          terminals.set(name, open(step.text, name))
          return
        }
        return await run(step, next?.kind === 'output' && next.terminal === null ? next.text : null)
      }
      case 'output': {
        // The command before it has compared it, unless it goes on.
        const running = terminals.get(step.terminal ?? '')
        if (step.terminal === null) return
        if (running === undefined) throw new Error(`nothing runs in the terminal ${step.terminal}`)
        const isThere = () => isOnScreen(step.text, linesOf(running.screen), kept, { whole: false })
        return await until(isThere, running, step.text)
      }
      case 'page':
        return await tryPage(step.text, here, [...kept.values()].findLast((one) => one.startsWith('qd_')) ?? '')
    }
  }

  return {
    async take(steps) {
      try {
        for (const [index, step] of steps.entries()) {
          await take(step, steps[index + 1]).catch((error: unknown) => {
            if (error instanceof Error) error.message = `${step.page}:${step.line}\n${error.message}`
            throw error
          })
        }
      } finally {
        for (const name of [...terminals.keys()]) await stop(name)
      }
    },
  }
}

interface Running {
  terminal: Terminal
  screen: Screen
}

/** Below the ports that the system gives to whoever asks for any: a server that is started again finds it free. */
async function freePort(): Promise<string> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000)
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer()
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (isFree) return String(port)
  }
}
