import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { checkWorkspace, createWorkspaces, type WorkspaceRules } from './allowed-workspace.ts'

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

type Own = Parameters<typeof createWorkspaces>[1]

const find = (asked: string, rules: Partial<WorkspaceRules>, own: Own) =>
  createWorkspaces({ defaultWorkspaceRoot: null, workspaces: [], slack: { channels: ['C1'] }, ...rules }, own).find(
    asked,
  )

const reason = (path: string, own: Own): string => {
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
    expect(['shop', at('p/shop'), found.path].map((asked) => find(asked, rules, own))).toEqual([found, found, found])
    expect(() => find('shoe', rules, own)).toThrow('"shoe" is not the id of a workspace. Write an id of workspaces in')
  })

  test('include what lies below the root, but not the root and not what a link leads out to', () => {
    const { at, own } = setUp()
    mkdirSync(at('outside'))
    symlinkSync(at('outside'), at('home/ada/projects/out'))
    const rules = { defaultWorkspaceRoot: at('home/ada/projects'), workspaces: [] }
    expect(find(at('home/ada/projects/shop'), rules, own)).toEqual({
      ...none,
      path: at('home/ada/projects/shop'),
    })
    for (const path of [at('home/ada/projects'), at('home/ada/projects/out'), at('outside')]) {
      expect(() => find(path, rules, own)).toThrow(/is not a workspace of this server/)
    }
  })
  test('are all folders that hold nothing of the server if no setting names one', () => {
    const { at, own } = setUp()
    expect(find(at('home/ada/projects/shop'), {}, own)).toEqual({ ...none, path: at('home/ada/projects/shop') })
    expect(() => find(at('var/data'), {}, own)).toThrow(/it is the data folder/)
  })

  test('stop the start if one of them can never be a workspace', () => {
    const { at, own } = setUp()
    const start = (rules: Partial<WorkspaceRules>) => () => find(at('home/ada/projects/shop'), rules, own)
    const listed = (path: string) => ({ workspaces: [{ ...none, path }] })
    for (const [rules, why] of [
      [listed(at('var/data')), 'it is the data folder of the server.'],
      [listed(at('run')), `it contains the runtime folder of the server, ${own.runtimeDir}.`],
      [listed(at('home/ada')), 'it is the home folder. Choose a folder inside it.'],
      [listed('/'), 'it is the whole file system.'],
      [listed(at('gone')), 'there is no such folder.'],
    ] as const) {
      const message = `workspaces[0] in quarterdeck.yaml: ${rules.workspaces[0]?.path} cannot be a workspace: ${why}`
      expect(start(rules)).toThrow(expect.objectContaining({ code: 'config_invalid', message }))
    }
    for (const root of ['/', at('home/ada'), at('var/data/files'), at('gone')]) {
      expect(start({ defaultWorkspaceRoot: root })).toThrow(/^default_workspace_root in quarterdeck.yaml: /)
    }
  })

  test('may lie below a root that also holds folders of the server', () => {
    const { at, own } = setUp()
    const rules = { defaultWorkspaceRoot: at('home/ada/projects') }
    const beside = { ...own, dataDir: at('home/ada/projects/shop/.quarterdeck') }
    mkdirSync(at('home/ada/projects/till'))
    expect(find(at('home/ada/projects/till'), rules, beside).path).toBe(at('home/ada/projects/till'))
    expect(() => find(at('home/ada/projects/shop'), rules, beside)).toThrow(/it contains the data folder/)
  })

  test('have no channel that the settings do not name', () => {
    const { own } = setUp()
    const rules = { defaultWorkspaceRoot: null, workspaces: [], slack: { channels: ['C1'] } }
    const { checkChannel } = createWorkspaces(rules, own)
    expect(() => checkChannel('C1')).not.toThrow()
    expect(() => checkChannel('C2')).toThrow(expect.objectContaining({ code: 'forbidden' }))
  })

  test('do not use the channel of another workspace, unless several share it', () => {
    const { own, at } = setUp()
    for (const path of ['p/shop/src', 'p/other', 'p/shopping']) mkdirSync(at(path), { recursive: true })
    const named = (path: string, channelId: string | null) => ({ path: at(path), id: null, channelId, label: null })
    const workspaces = [named('p/shop', 'C1'), named('p/other', null)]
    const { checkChannel, find: found } = createWorkspaces(
      { defaultWorkspaceRoot: at('p'), workspaces, slack: { channels: ['C1', 'C2'] } },
      own,
    )
    expect(['p/shop', 'p/shop/src', 'p/shopping'].map((path) => found(at(path)).channelId)).toEqual(['C1', 'C1', null])
    for (const path of ['p/shop', 'p/shop/src']) expect(() => checkChannel('C1', at(path))).not.toThrow()
    for (const path of ['p/other', 'p/shopping', 'p']) {
      expect(() => checkChannel('C2', at(path))).not.toThrow()
      expect(() => checkChannel('C1', at(path))).toThrow(/belongs to another workspace/)
    }
  })
})
