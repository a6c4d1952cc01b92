import { readFile } from 'node:fs/promises'
import { PassThrough } from 'node:stream'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { settingKeys, settings } from '../config/settings/settings.ts'
import { argumentText } from './command-tables.ts'
import { createAppStarter } from './commands/serve/start-app.ts'
import { exitCodes } from './exit-codes.ts'
import { main } from './main.ts'
import { createProgram } from './program.ts'
import { createTestIo } from './testing/test-io.ts'

async function run(...args: string[]) {
  const io = createTestIo({ cwd: '/' })
  const exitCode = await main(args, io)
  return { exitCode, out: io.printed(), err: io.complained() }
}

const context = { version: '1.2.3', startApp: createAppStarter('1.2.3'), io: createTestIo(), settle() {} }
const program = await createProgram(context)

test('a command that is asked for is loaded alone', async () => {
  for (const name of program.commands.map((command) => command.name())) {
    const alone = await createProgram(context, name)
    expect(alone.commands.map((command) => command.name())).toEqual([name])
  }
})

/** Every command, by its words. One that takes arguments may have others below it. */
function commandsOf(command: Command, words: string[] = []): Map<string, Command> {
  const isOne = command.commands.length === 0 || command.registeredArguments.length > 0
  const children = command.commands.flatMap((child) => [...commandsOf(child, [...words, child.name()])])
  return new Map([...(isOne ? [[words.join(' '), command] as const] : []), ...children])
}

/** A hidden flag is for our own tests. */
const flagsOf = (command: Command): string[] =>
  command.options
    .filter(({ hidden }) => !hidden)
    .map(({ flags }) => flags)
    .toSorted()

const page = (name: string): Promise<string> =>
  readFile(new URL(`../../docs/look-up/${name}.md`, import.meta.url), 'utf8')

/** What `docs/look-up/cli.md` says under the heading of each command. It leaves the flags that are settings to `settings.md`. */
async function readDocs(): Promise<{
  commands: Map<string, string[]>
  usage: Map<string, string>
  exitCodes: string[][]
}> {
  const text = await page('cli')
  const settingFlags = [...(await page('settings')).matchAll(/^\| `[\w.]+` \| `(--[^`]+)` \|/gm)].map(([, flag = '']) =>
    flag.replaceAll('\\|', '|'),
  )
  const commands = new Map<string, string[]>()
  const usage = new Map<string, string>()
  const codes: string[][] = []
  for (const section of text.split(/^##+ /m).slice(1)) {
    const [heading = '', ...lines] = section.split('\n')
    const rows = lines.flatMap((line) =>
      line.startsWith('| ') ? [line.split(/(?<!\\)\|/).map((cell) => cell.trim())] : [],
    )
    if (heading === 'Exit codes') codes.push(...rows.slice(1).map(([, code = '', meaning = '']) => [code, meaning]))
    const name = /^`quarterdeck ([^`]+)`$/.exec(heading)?.[1]
    if (name === undefined) continue
    const words = name.replace(/ [[<].*$/, '')
    usage.set(words, name)
    const own = lines.flatMap((line) => /^- `(-[^`]+)`: /.exec(line)?.[1] ?? [])
    const also = lines.filter((line) => line.startsWith('- also ')).flatMap((line) => line.match(/(?<=`)-[^`]+/g) ?? [])
    const ofSettings = lines.some((line) => line.includes('every flag of [the settings]')) ? settingFlags : []
    commands.set(words, [...own, ...also, ...ofSettings].toSorted())
  }
  return { commands, usage, exitCodes: codes }
}

describe('docs/look-up/cli.md', () => {
  test('has every command with every flag, and no other', async () => {
    const { commands } = await readDocs()
    // Where a flag of several commands is named, what it takes is left out.
    const named = (flags: Iterable<string>): string[] => [...flags].map((flag) => flag.replace(/ [<[].*/, ''))
    const expected = [...commandsOf(program)].map(([words, command]) => [words, named(flagsOf(command))])

    expect(Object.fromEntries([...commands].map(([words, flags]) => [words, named(flags)]))).toEqual(
      Object.fromEntries(expected),
    )
  })

  test('shows the arguments of every command', async () => {
    const { usage } = await readDocs()
    const expected = [...commandsOf(program)].map(([words, command]) =>
      [words, ...command.registeredArguments.map(argumentText)].join(' '),
    )

    expect([...usage.values()].toSorted()).toEqual(expected.toSorted())
  })

  test('lists the exit codes as they are', async () => {
    const { exitCodes: listed } = await readDocs()

    expect(listed).toEqual(Object.values(exitCodes).map(({ code, meaning }) => [String(code), meaning]))
  })
})

describe('the command line', () => {
  test('serve has a flag for every setting that has one, with its variable in the whole help', async () => {
    const serve = commandsOf(program).get('serve')
    const { exitCode, out: help } = await run('serve', '--help-all')
    expect(exitCode).toBe(0)
    for (const key of settingKeys) {
      const { flag, env } = settings[key]
      if (flag === null) continue
      expect(serve?.options.map(({ flags }) => flags)).toContain(flag)
      expect(help).toContain(env[0])
    }
  })

  test('serve --help fits on one screen, and names the usual flags', async () => {
    const { out } = await run('serve', '--help')
    expect(out.split('\n').length).toBeLessThanOrEqual(40)
    for (const flag of ['--port <number>', '--host <address>', '--data-dir <folder>', '--watch', '--help-all'])
      expect(out).toContain(flag)
    expect(out).not.toContain('--posts-per-minute')
  })

  test('--help lists the commands in groups', async () => {
    const { out } = await run('--help')
    const headings = out.split('\n').filter((line) => /^\S.*:$/.test(line))
    expect(headings).toEqual([
      'Options:',
      'Everyday:',
      'Data:',
      'Supervising coding agents:',
      'For programs:',
      'More:',
      'Examples:',
    ])
  })

  test('help explains a command at every level', async () => {
    for (const [words, command] of commandsOf(program)) {
      const { exitCode, out } = await run('help', ...words.split(' '))
      expect([words, exitCode, out.split('\n')[0]]).toEqual([words, 0, expect.stringContaining(`quarterdeck ${words}`)])
      expect(out).toBe((await run(...words.split(' '), '--help')).out)
      expect(out).toContain(command.description().slice(0, 20))
    }
    expect((await run('help', 'tokens')).out).toContain('Usage: quarterdeck tokens')
    expect((await run('help')).out).toBe((await run('--help')).out)
  })

  test.each([
    [['help', 'ctl', 'aprove'], 'approve'],
    [['help', 'tokns'], 'tokens'],
    [['ctl', 'aprove'], 'approve'],
    [['sessions', 'exprt'], 'export'],
    [['ctl', 'credential', 'st'], 'set'],
    [['ctl', 'list', '--al'], '--all'],
    [['serve', '--max-strems', '1'], '--max-streams'],
  ])('%j is told what it may mean: exit 2', async (args, meant) => {
    expect(await run(...args)).toMatchObject({
      exitCode: 2,
      out: '',
      err: expect.stringContaining(`(Did you mean ${meant}?)`),
    })
  })

  test('a flag takes a value everywhere or nowhere', () => {
    const uses = new Map<string, Set<boolean>>()
    for (const { options } of commandsOf(program).values()) {
      for (const { long, flags } of options)
        uses.set(long ?? '', (uses.get(long ?? '') ?? new Set()).add(/[<[]/.test(flags)))
    }
    expect([...uses].filter(([, kinds]) => kinds.size > 1).map(([flag]) => flag)).toEqual([])
  })

  test('a word is the name of one command, whatever stands before it, unless it says the same of other things', () => {
    // `policy` is about the policy files of workspaces, in `ctl` too: there about those that wait for a yes.
    // A schedule is paused, resumed, run and removed, as an agent, a command and a passkey are. `mcp` is the server for one's own agents,
    // and `connect mcp` signs in to that of others.
    const SAME = new Set([
      ...['list', 'create', 'export', 'restore', 'policy', 'revoke'],
      ...['pause', 'resume', 'run', 'remove', 'mcp'],
    ])
    const names = new Map<string, string[]>()
    const note = (command: Command, words: string): void => {
      for (const child of command.commands) {
        names.set(child.name(), [...(names.get(child.name()) ?? []), `${words}${child.name()}`])
        note(child, `${words}${child.name()} `)
      }
    }
    note(program, '')
    expect([...names].filter(([name, uses]) => uses.length > 1 && !SAME.has(name)).map(([, uses]) => uses)).toEqual([])
  })

  test('every command has examples', async () => {
    for (const { name } of program.commands.map((command) => ({ name: command.name() }))) {
      const { exitCode, out, err } = await run(name, '--help')
      expect([name, exitCode, err]).toEqual([name, 0, ''])
      expect(out).toContain('\nExamples:\n  $ quarterdeck ')
    }
  })

  test('prints its version', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))

    expect(await run('--version')).toEqual({ exitCode: 0, out: `${version}\n`, err: '' })
  })

  test('explains a mistake in one or two lines: exit 2', async () => {
    expect(await run('srve')).toEqual({
      exitCode: 2,
      out: '',
      err: "quarterdeck: unknown command 'srve'\n(Did you mean serve?)\nAdd --help to see what you can write.\n",
    })
    expect(await run('serve', '--prot', '1')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('(Did you mean --port?)'),
    })
    expect(await run('sessions', 'delete')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('--older-than <age>'),
    })
    expect(await run()).toMatchObject({ exitCode: 2, out: '', err: expect.stringContaining('Usage: quarterdeck') })
  })

  test('prints the schemas that are checked in', async () => {
    for (const [which, file] of [
      ['agent', 'agent'],
      ['server', 'quarterdeck'],
    ] as const) {
      const { out } = await run('schema', which)
      expect(JSON.parse(out)).toEqual(
        JSON.parse(await readFile(new URL(`../../schema/${file}.schema.json`, import.meta.url), 'utf8')),
      )
    }
    expect((await run('schema', 'nothing')).exitCode).toBe(2)
  })

  test('reports an uncaught failure in one block: exit 70', async () => {
    // A silent pipe keeps the command waiting.
    const io = createTestIo({ stdin: new PassThrough() })

    const pending = main(['chat', 'http://127.0.0.1:9'], io)
    io.crash(new Error('late'))

    expect(await pending).toBe(70)
    expect(io.complained()).toContain('quarterdeck: internal error: late\n')
  })
})
