import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tempFolder } from '../../cli/testing/temp-folder.ts'
import { findPolicy } from './find-policy.ts'

const OURS = '.quarterdeck/policy.json'
const THEIRS = '.monocoque/settings.json'

async function workspace(files: Record<string, string | Uint8Array> = {}): Promise<string> {
  const root = await tempFolder()
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(join(root, file, '..'), { recursive: true })
    writeFileSync(join(root, file), content)
  }
  return root
}

const found = (file: string, text: string) => ({ state: 'text', file, text, sha256: hash('sha256', text, 'hex') })

describe('the policy file of a workspace', () => {
  test('is .quarterdeck/policy.json, otherwise .monocoque/settings.json', async () => {
    expect(findPolicy(await workspace())).toEqual({ state: 'none' })
    expect(findPolicy(await workspace({ [THEIRS]: '{ }' }))).toEqual(found(THEIRS, '{ }'))
    expect(findPolicy(await workspace({ [OURS]: '{}', [THEIRS]: '{ }' }))).toEqual(found(OURS, '{}'))
    expect(findPolicy(await workspace({ '.quarterdeck/other': '', [THEIRS]: '{ }' }))).toEqual(found(THEIRS, '{ }'))
    expect(findPolicy(await workspace({ '.quarterdeck': '', [THEIRS]: '{ }' }))).toEqual(found(THEIRS, '{ }'))
    expect(findPolicy('/no/such/folder')).toEqual({ state: 'none' })
  })

  test('is not another file if the first one cannot be read', async () => {
    const root = await workspace({ [OURS]: '\ufeff'.repeat(30_000), [THEIRS]: '{}' })
    expect(findPolicy(root)).toEqual({
      state: 'unreadable',
      file: OURS,
      reason: 'the file has more than 64 KiB. Shorten it.',
    })
  })

  test('is never read through a link', async () => {
    const outside = await workspace({ 'policy.json': '{}' })
    const linked = await workspace({ '.quarterdeck/x': '' })
    symlinkSync(join(outside, 'policy.json'), join(linked, OURS))
    expect(findPolicy(linked)).toEqual({
      state: 'unreadable',
      file: OURS,
      reason: 'it is a link. Put the file itself there.',
    })
    const folder = await workspace()
    symlinkSync(outside, join(folder, '.quarterdeck'))
    expect(findPolicy(folder)).toEqual({
      state: 'unreadable',
      file: OURS,
      reason: 'its folder is a link. Put the file into a real folder of the workspace.',
    })
    const dangling = await workspace({ '.quarterdeck/x': '' })
    symlinkSync('nowhere', join(dangling, OURS))
    expect(findPolicy(dangling)).toMatchObject({ state: 'unreadable' })
  })

  test('must be a regular file, and a pipe does not make the server wait', async () => {
    const root = await workspace({ '.quarterdeck/x': '' })
    execFileSync('mkfifo', [join(root, OURS)])
    expect(findPolicy(root)).toEqual({ state: 'unreadable', file: OURS, reason: 'it is not a regular file.' })
    const folder = await workspace({ [`${OURS}/x`]: '' })
    expect(findPolicy(folder)).toEqual({ state: 'unreadable', file: OURS, reason: 'it is not a regular file.' })
  })

  test('must be UTF-8', async () => {
    const root = await workspace({ [OURS]: new Uint8Array([0x7b, 0xff, 0x7d]) })
    expect(findPolicy(root)).toEqual({
      state: 'unreadable',
      file: OURS,
      reason: 'it is not UTF-8 text. Save it as UTF-8.',
    })
  })

  test.skipIf(process.getuid?.() === 0)('that the server may not read is named as such', async () => {
    const root = await workspace({ [OURS]: '{}' })
    chmodSync(join(root, OURS), 0)
    expect(findPolicy(root)).toMatchObject({ reason: 'the server may not read it. Change its permissions.' })
  })

  test('has a hash that covers every byte, also the mark at its start', async () => {
    const [plain, marked] = [await workspace({ [OURS]: '{}' }), await workspace({ [OURS]: '\ufeff{}' })]
    expect(findPolicy(marked)).toEqual(found(OURS, '\ufeff{}'))
    expect(findPolicy(marked)).not.toEqual(findPolicy(plain))
    const hard = await workspace({ '.quarterdeck/x': '' })
    linkSync(join(plain, OURS), join(hard, OURS))
    expect(findPolicy(hard)).toEqual(found(OURS, '{}'))
  })
})
