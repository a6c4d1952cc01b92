import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../../app/open-store.ts'
import { createBlobFolder } from '../../../files/keep/blob-folder.ts'
import { newAudit } from '../../../store/contract/samples.contract.ts'
import { main } from '../../main.ts'
import { fillStore } from '../../testing/full-store.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'

/** Two data directories, `a` with one of everything. */
async function twoStores() {
  const cwd = await tempFolder()
  const store = openStore({ dataDir: join(cwd, 'a'), fatal() {} })
  await fillStore(store, createBlobFolder(join(cwd, 'a', 'files')))
  await store.close()
  const run = async (...args: string[]) => {
    const io = createTestIo({ cwd })
    const exitCode = await main(args, io)
    return { exitCode, out: io.printed(), err: io.complained() }
  }
  return { cwd, run }
}

const linesOf = async (path: string): Promise<string[]> => (await readFile(path, 'utf8')).trimEnd().split('\n')

describe('moving everything to another store', () => {
  test('loses nothing, may be repeated, and a comparison says so', async () => {
    const { cwd, run } = await twoStores()
    expect(await run('sessions', 'export', '--all', '--data-dir', 'a', '-o', 'all.jsonl')).toEqual({
      exitCode: 0,
      out: '',
      err: 'Exported 3 sessions.\n',
    })
    expect(await run('sessions', 'import', '--all', 'all.jsonl', '--data-dir', 'b')).toEqual({
      exitCode: 0,
      out: '',
      err: 'Imported 3 sessions.\n',
    })
    expect(await run('sessions', 'compare', 'all.jsonl', '--data-dir', 'b')).toEqual({
      exitCode: 0,
      out: '',
      err: 'Nothing differs: 3 sessions, 1 file, 7 other records, and 2 entries of the audit trail are the same.\n',
    })
    expect(await run('sessions', 'import', '--all', 'all.jsonl', '--data-dir', 'b')).toMatchObject({
      exitCode: 0,
      err: 'Imported 0 sessions. 3 sessions were here already, the same.\n',
    })
    // What it exports again is the same, but for the chain, which has another name, and what was recorded about the import.
    await run('sessions', 'export', '--all', '--data-dir', 'b', '-o', 'again.jsonl')
    const [before, after] = [await linesOf(join(cwd, 'all.jsonl')), await linesOf(join(cwd, 'again.jsonl'))]
    const isSame = (line: string) => !line.startsWith('{"archive"') && !line.startsWith('{"audit"')
    expect(after.filter(isSame).sort()).toEqual(before.filter(isSame).sort())
    expect(await run('audit', 'verify', '--data-dir', 'b')).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(
        /^The audit trail is whole: 3 entries in 2 chains\.\nhead .+ of chain main\nhead .+ of chain main@/,
      ),
    })
  })

  test('without --all brings the conversations and their files, and nothing that gives rights', async () => {
    const { cwd, run } = await twoStores()
    await run('sessions', 'export', '--all', '--data-dir', 'a', '-o', 'all.jsonl')
    expect(await run('sessions', 'import', 'all.jsonl', '--data-dir', 'b')).toMatchObject({
      exitCode: 0,
      err: 'Imported 3 sessions.\nLeft out: grants, policies, tasks, usage and the audit trail. --all imports them too.\n',
    })
    const store = openStore({ dataDir: join(cwd, 'b'), fatal() {} })
    const found = [await store.grants.list({ now: 0 }), await store.supervised.pins(), await store.audit.chains()]
    await store.close()
    expect(found).toEqual([[], [], ['main']])
    expect((await readdir(join(cwd, 'b', 'files'))).length).toBe(1)
  })

  test('is refused where something differs, and the comparison names it', async () => {
    const { cwd, run } = await twoStores()
    await run('sessions', 'export', '--all', '--data-dir', 'a', '-o', 'all.jsonl')
    await run('sessions', 'import', '--all', 'all.jsonl', '--data-dir', 'b')
    const changed = (await readFile(join(cwd, 'all.jsonl'), 'utf8'))
      .replace('"content":"Hello"', '"content":"Hullo"')
      .replace('"tool":"send_mail","where"', '"tool":"pay","where"')
      .replace('"input":10', '"input":11')
    await writeFile(join(cwd, 'changed.jsonl'), changed)

    const imported = await run('sessions', 'import', '--all', 'changed.jsonl', '--data-dir', 'b')
    expect(imported.exitCode).toBe(1)
    expect(imported.err).toMatch(/^Line \d+: session 0199a000-\S+ refused: it exists and is different \(messages\)\.$/m)
    expect(imported.err).toMatch(/a grant refused[\s\S]*a row of usage refused/)
    const compared = await run('sessions', 'compare', 'changed.jsonl', '--data-dir', 'b')
    expect(compared).toMatchObject({
      exitCode: 1,
      err: '3 differences. Sessions: 2 the same, 0 missing, 1 different.\n',
    })
    expect(compared.out).toMatch(/session 0199a000-\S+ is different \(messages\)\.\n[\s\S]*grant .+ is different\.\n/)
    expect(await run('sessions', 'compare', 'all.jsonl', '--data-dir', 'b')).toMatchObject({ exitCode: 0 })
  })

  test('goes on with the audit trail that has grown, and refuses one that was written again', async () => {
    const { cwd, run } = await twoStores()
    const exportTo = (file: string) => run('sessions', 'export', '--all', '--data-dir', 'a', '-o', file)
    const importFrom = (file: string) => run('sessions', 'import', '--all', file, '--data-dir', 'b')
    await exportTo('one.jsonl')
    await importFrom('one.jsonl')
    const store = openStore({ dataDir: join(cwd, 'a'), fatal() {} })
    const { synced } = await store.commit([{ type: 'add_audit', audit: [newAudit('carl')] }])
    await synced
    await store.close()
    await exportTo('two.jsonl')

    expect(await importFrom('two.jsonl')).toMatchObject({ exitCode: 0 })
    expect(await run('sessions', 'compare', 'two.jsonl', '--data-dir', 'b')).toMatchObject({ exitCode: 0 })
    const forged = (await readFile(join(cwd, 'two.jsonl'), 'utf8')).replace('\\"by\\":\\"carl\\"', '\\"by\\":\\"eve\\"')
    await writeFile(join(cwd, 'forged.jsonl'), forged)
    expect(await importFrom('forged.jsonl')).toMatchObject({
      exitCode: 1,
      err: expect.stringMatching(/chain main@\S+ of the audit trail refused: it exists and is different\./),
    })
    expect(await run('audit', 'verify', '--file', 'two.jsonl')).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(/^The audit trail is whole: 3 entries\.\nhead /),
    })
    expect(await run('audit', 'verify', '--file', 'forged.jsonl')).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('The audit trail is broken at entry 3.'),
    })
  })

  test('refuses an audit trail whose hashes do not fit, and says in which line', async () => {
    const { cwd, run } = await twoStores()
    await run('sessions', 'export', '--all', '--data-dir', 'a', '-o', 'all.jsonl')
    const forged = (await readFile(join(cwd, 'all.jsonl'), 'utf8')).replace('\\"by\\":\\"bob\\"', '\\"by\\":\\"eve\\"')
    await writeFile(join(cwd, 'forged.jsonl'), forged)

    expect(await run('sessions', 'import', '--all', 'forged.jsonl', '--data-dir', 'b')).toMatchObject({
      exitCode: 1,
      err: expect.stringMatching(/^Line \d+: chain main@\S+ of the audit trail refused: .+ an entry was changed/m),
    })
    const store = openStore({ dataDir: join(cwd, 'b'), fatal() {} })
    const chains = await store.audit.chains()
    await store.close()
    expect(chains).toEqual(['main'])
  })

  test('notices an archive that was cut off or damaged, and keeps what came before', async () => {
    const { cwd, run } = await twoStores()
    await run('sessions', 'export', '--data-dir', 'a', '-o', 'all.jsonl')
    const lines = await linesOf(join(cwd, 'all.jsonl'))
    const tryWith = async (name: string, kept: string[]) => {
      await writeFile(join(cwd, `${name}.jsonl`), `${kept.join('\n')}\n`)
      return run('sessions', 'import', `${name}.jsonl`, '--data-dir', name)
    }
    expect(await tryWith('no-end', lines.slice(0, -1))).toEqual({
      exitCode: 1,
      out: '',
      err: 'Imported 3 sessions before it stopped.\nquarterdeck: The archive was cut off: its last line is missing.\n  Export it again.\n',
    })
    const isBytes = (line: string) => line.startsWith('{"bytes"')
    const [first = ''] = lines.filter(isBytes)
    expect(lines.filter(isBytes)).toHaveLength(3)
    expect(
      (
        await tryWith(
          'part',
          lines.filter((line) => line !== first),
        )
      ).err,
    ).toContain('bytes: a part of the file is missing.')
    const wrong = lines.map((line) => (line === first ? line.replace(/"data":"..../, '"data":"AAAA') : line))
    expect((await tryWith('hash', wrong)).err).toContain('bytes: the file does not have its hash.')
    expect(await readdir(join(cwd, 'hash', 'files'))).toEqual([])
    expect(
      (
        await tryWith(
          'count',
          lines.filter((line) => !line.includes('talk-2')),
        )
      ).err,
    ).toContain('The archive was cut off: 2 of its 3 sessions are there.')
  })
})
