import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { safeSearchPath } from './find-program.ts'
import { findCommand, resolveCommands } from './resolve-commands.ts'

function setUp() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-commands-')))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const at = (...parts: string[]) => join(root, ...parts)
  for (const folder of ['bin', 'shop/bin', 'other']) mkdirSync(at(folder), { recursive: true })
  const program = (path: string, mode = 0o755) => {
    writeFileSync(at(path), '#!/bin/sh\n')
    chmodSync(at(path), mode)
  }
  program('bin/git')
  program('bin/plain', 0o644)
  program('shop/bin/evil')
  const resolve = (config: Parameters<typeof resolveCommands>[0], searchPath = at('bin')) =>
    resolveCommands(config, { workspaces: [at('shop')], verbs: ['list', 'approve'], searchPath })
  const problem = (config: Parameters<typeof resolveCommands>[0], searchPath?: string) => {
    try {
      resolve(config, searchPath)
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
    return null
  }
  return { at, program, resolve, problem }
}

describe('the commands of the settings', () => {
  test('keep their arguments and get the whole path of their program', () => {
    const { at, resolve } = setUp()
    const commands = resolve({ status: 'git status "a b"', log: ['git', 'log', '$HOME'], abs: at('bin/git') })
    expect([...commands.values()]).toEqual([
      { alias: 'status', argv: ['git', 'status', 'a b'], program: at('bin/git') },
      { alias: 'log', argv: ['git', 'log', '$HOME'], program: at('bin/git') },
      { alias: 'abs', argv: [at('bin/git')], program: at('bin/git') },
    ])
  })

  test('stop the start with all problems at once', () => {
    const { problem } = setUp()
    expect(problem({ list: 'git', a: 'git | wc', b: 'nothing-here', c: './x', d: 'plain', e: [], f: 'git' })).toBe(
      'commands.list: list is a word of quarterdeck itself. Choose another name. ' +
        'commands.a: this line cannot run without a shell: it has |, which only a shell understands. ' +
        'commands.b: there is no program nothing-here in the PATH. Install it, or write its whole path. ' +
        'commands.c: write the whole path of ./x: what it means depends on the workspace. ' +
        'commands.d: there is no program plain in the PATH. Install it, or write its whole path. ' +
        'commands.e: this names no program.',
    )
  })

  test('never run a program that an agent can change', () => {
    const { at, program, problem } = setUp()
    program('other/tool')
    symlinkSync(at('shop/bin/evil'), at('bin/linked'))
    // The last program is fine, but an agent decides where the link in the middle leads.
    symlinkSync(at('other/tool'), at('shop/hop'))
    symlinkSync(at('shop/hop'), at('bin/hopping'))
    symlinkSync(at('shop'), at('alias'))
    const why = (name: string, path: string) =>
      `commands.x: ${name} is ${path}, which an agent can change because it leads into a workspace. Use a program from elsewhere.`
    expect([
      problem({ x: 'evil' }, at('shop/bin')),
      problem({ x: 'linked' }),
      problem({ x: 'hopping' }),
      problem({ x: at('alias/bin/evil') }),
    ]).toEqual([
      why('evil', at('shop/bin/evil')),
      why('linked', at('bin/linked')),
      why('hopping', at('bin/hopping')),
      why(at('alias/bin/evil'), at('alias/bin/evil')),
    ])
  })

  test('are not looked for in the current folder', () => {
    const { problem } = setUp()
    expect(problem({ x: 'git' }, ['', '.', 'bin'].join(delimiter))).toMatch(/there is no program git/)
  })

  test('that do not exist are answered with those that do', () => {
    const { resolve } = setUp()
    const commands = resolve({ status: 'git status', log: 'git log' })
    expect(findCommand(commands, 'log').alias).toBe('log')
    expect(() => findCommand(commands, 'statsu')).toThrow(
      'There is no command "statsu". Did you mean status? There are: log, status.',
    )
    expect(() => findCommand(resolve({}), 'x')).toThrow(/No commands are configured/)
  })

  test('search in no folder that an agent can write', () => {
    const { at } = setUp()
    const searchPath = [at('bin'), 'node_modules/.bin', '', at('shop/bin'), '/usr/bin'].join(delimiter)
    expect(safeSearchPath(searchPath, [at('shop')])).toBe([at('bin'), '/usr/bin'].join(delimiter))
  })
})
