import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { checkWorkspace, findWorkspace } from './allowed-workspace.ts'

function setUp() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-workspace-')))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const at = (...parts: string[]) => join(root, ...parts)
  for (const folder of ['home/ada/projects/shop', 'home/ada/.config/q/deep', 'var/data/files', 'run/q']) {
    mkdirSync(at(folder), { recursive: true })
  }
  const own = {
    home: at('home/ada'),
    configDir: at('home/ada/.config/q'),
    dataDir: at('var/data'),
    runtimeDir: at('run/q'),
  }
  return { at, own }
}

const reason = (path: string, own: Parameters<typeof checkWorkspace>[1]): string => {
  try {
    return checkWorkspace(path, own)
  } catch (error) {
    return error instanceof Error ? error.message.replace(`${path} cannot be a workspace: `, '') : String(error)
  }
}

describe('a workspace', () => {
  test('is any folder that holds nothing of the server', () => {
    const { at, own } = setUp()
    expect(checkWorkspace(at('home/ada/projects/shop'), own)).toBe(at('home/ada/projects/shop'))
  })

  test('is told by its real path', () => {
    const { at, own } = setUp()
    symlinkSync(at('home/ada/projects/shop'), at('link'))
    expect(checkWorkspace(at('link'), own)).toBe(at('home/ada/projects/shop'))
    symlinkSync(at('var/data'), at('trick'))
    expect(reason(at('trick'), own)).toBe('it is the data folder of the server.')
    expect(reason(at('trick/files'), own)).toBe(`it lies within the data folder of the server, ${own.dataDir}.`)
  })

  test('is never the whole machine, the home folder, or a folder around or inside ours', () => {
    const { at, own } = setUp()
    writeFileSync(at('file'), '')
    expect(
      ['/', at('home/ada'), at('home'), at('home/ada/.config'), at('var'), at('run/q'), at('home/ada/.config/q/deep')]
        .concat(at('none'), at('file'), 'shop', '/a\0b')
        .map((path) => reason(path, own)),
    ).toEqual([
      'it is the whole file system.',
      'it is the home folder. Choose a folder inside it.',
      'it contains the home folder.',
      `it contains the config folder of the server, ${own.configDir}.`,
      `it contains the data folder of the server, ${own.dataDir}.`,
      'it is the runtime folder of the server.',
      `it lies within the config folder of the server, ${own.configDir}.`,
      'there is no such folder.',
      'there is no such folder.',
      'it is not an absolute path.',
      'its name has a NUL character.',
    ])
  })

  test('may not take the place where a folder of ours will be', () => {
    const { at, own } = setUp()
    const later = { ...own, runtimeDir: at('home/ada/projects/shop/run') }
    expect(reason(at('home/ada/projects/shop'), later)).toMatch(/^it contains the runtime folder/)
  })

  test('that leads nowhere is refused', () => {
    const { at, own } = setUp()
    symlinkSync(at('loop'), at('loop'))
    expect(reason(at('loop'), own)).toBe(`it is not clear where ${at('loop')} leads.`)
  })
})

describe('the workspaces of the settings', () => {
  const none = { id: null, channelId: null, label: null }

  test('are found by path, by a link to it, and by id', () => {
    const { at, own } = setUp()
    symlinkSync(at('home/ada/projects'), at('p'))
    const listed = { path: at('p/shop'), id: 'shop', channelId: 'C1', label: 'The shop' }
    const rules = { defaultWorkspaceRoot: null, workspaces: [listed] }
    const found = { ...listed, path: at('home/ada/projects/shop') }
    expect(['shop', at('p/shop'), found.path].map((asked) => findWorkspace(asked, rules, own))).toEqual([
      found,
      found,
      found,
    ])
  })

  test('include what lies below the root, but not the root and not what a link leads out to', () => {
    const { at, own } = setUp()
    mkdirSync(at('outside'))
    symlinkSync(at('outside'), at('home/ada/projects/out'))
    const rules = { defaultWorkspaceRoot: at('home/ada/projects'), workspaces: [] }
    expect(findWorkspace(at('home/ada/projects/shop'), rules, own)).toEqual({
      ...none,
      path: at('home/ada/projects/shop'),
    })
    for (const path of [at('home/ada/projects'), at('home/ada/projects/out'), at('outside')]) {
      expect(() => findWorkspace(path, rules, own)).toThrow(/is not a workspace of this server/)
    }
  })
})
