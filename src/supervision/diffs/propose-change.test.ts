import { createHash } from 'node:crypto'
import { chmodSync, linkSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeWorkspace } from '../testing/workspace.ts'
import { changeDigest, editedChange, type ProposedChange, proposeChange } from './propose-change.ts'
import { shownDiff } from './show-change.ts'

const sha = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')
const propose = (root: string, filePath: string, diff: string): Promise<ProposedChange> =>
  proposeChange({ workspaceRoot: root, filePath, diff })
const textOf = ({ after }: ProposedChange): string | null => (after === null ? null : Buffer.from(after).toString())
const headers = (path: string) => `--- a/${path}\n+++ b/${path}\n`

describe('a proposed change', () => {
  test('is made from a patch of the file on disk', async () => {
    const root = makeWorkspace({ 'src/a.ts': 'one\ntwo\nthree\n' })
    const diff = `${headers('src/a.ts')}@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n`
    expect(await propose(root, './src/a.ts', diff)).toEqual({
      path: 'src/a.ts',
      kind: 'modify',
      beforeHash: sha('one\ntwo\nthree\n'),
      afterHash: sha('one\nTWO\nthree\n'),
      isBinary: false,
      after: Buffer.from('one\nTWO\nthree\n'),
      diff,
      addedLines: 1,
      removedLines: 1,
      warnings: [],
      risk: 'low',
      protectedBecause: null,
      hasHiddenText: false,
    })
    expect(readdirSync(join(root, 'src'))).toEqual(['a.ts'])
  })

  test('is made from the whole new text, and the diff is ours', async () => {
    const root = makeWorkspace({ 'a.ts': 'one\ntwo\n' })
    const change = await propose(root, 'a.ts', 'one\n2\n')
    expect(change).toMatchObject({ kind: 'modify', afterHash: sha('one\n2\n') })
    expect(change.diff).toBe(`${headers('a.ts')}@@ -1,2 +1,2 @@\n one\n-two\n+2\n`)
  })

  test('creates a file, also in new folders, and also an empty one', async () => {
    const root = makeWorkspace()
    const patch = '--- /dev/null\n+++ b/new/a.ts\n@@ -0,0 +1 @@\n+one\n'
    for (const diff of [
      'one\n',
      patch,
      patch.replace('/dev/null', 'a/new/a.ts'),
      `diff --git a/new/a.ts b/new/a.ts\nnew file mode 100644\nindex 0000000..1234567\n${patch}`,
    ]) {
      expect(await propose(root, 'new/a.ts', diff)).toMatchObject({
        kind: 'create',
        beforeHash: 'new_file',
        diff: patch,
      })
    }
    const empty = await propose(root, '__init__.py', '')
    expect(empty).toMatchObject({
      kind: 'create',
      afterHash: sha(''),
      addedLines: 0,
      warnings: ['The new file is empty.'],
    })
    expect(shownDiff(empty)).toEqual({ text: '--- /dev/null\n+++ b/__init__.py', hiddenLines: 0 })
    expect(readdirSync(root)).toEqual([])
  })

  test('deletes a file, and says so where the patch only empties it', async () => {
    const root = makeWorkspace({ 'a.ts': 'one\n' })
    const deletion = '--- a/a.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n'
    const change = await propose(root, 'a.ts', deletion)
    expect(change).toMatchObject({ kind: 'delete', afterHash: 'deleted', after: null, diff: deletion, warnings: [] })
    const emptied = await propose(root, 'a.ts', deletion.replace('/dev/null', 'b/a.ts'))
    expect(emptied).toMatchObject({ kind: 'delete', warnings: ['This empties the file, so it deletes it.'] })
    const blank = await propose(root, 'a.ts', '')
    expect(blank).toMatchObject({ kind: 'modify', warnings: ['This empties the file. The empty file stays.'] })
  })

  test('keeps CRLF, and says where line endings change', async () => {
    const root = makeWorkspace({ 'a.ts': 'one\r\ntwo\r\n' })
    const kept = await propose(root, 'a.ts', `${headers('a.ts')}@@ -1,2 +1,2 @@\n one\r\n-two\r\n+2\r\n`)
    expect([textOf(kept), kept.warnings]).toEqual(['one\r\n2\r\n', ['Line endings: CRLF.']])
    expect(shownDiff(kept).text).toBe(`${headers('a.ts')}@@ -1,2 +1,2 @@\n one\n-two\n+2`)
    const changed = await propose(root, 'a.ts', 'one\ntwo\n')
    expect(changed.warnings).toEqual(['Line endings change from CRLF to LF.'])
    expect(shownDiff(changed).text).toContain('-one<U+000D>\n-two<U+000D>\n+one\n+two')
    const patch = `${headers('a.ts')}@@ -1,2 +1,2 @@\n one\n-two\n+2\n`
    await expect(propose(root, 'a.ts', patch)).rejects.toThrow('line 1 ends with CRLF, but the patch says LF')
  })

  test('keeps a missing newline at the end, and shows where it goes away', async () => {
    const root = makeWorkspace({ 'a.ts': 'one\ntwo' })
    const none = '\\ No newline at end of file\n'
    const kept = await propose(root, 'a.ts', `${headers('a.ts')}@@ -1,2 +1,2 @@\n one\n-two\n${none}+2\n${none}`)
    expect([textOf(kept), kept.warnings]).toEqual(['one\n2', []])
    const added = await propose(root, 'a.ts', `${headers('a.ts')}@@ -1,2 +1,2 @@\n one\n-two\n${none}+two\n`)
    expect(textOf(added)).toBe('one\ntwo\n')
    await expect(propose(root, 'a.ts', `${headers('a.ts')}@@ -1,2 +1,2 @@\n one\n-two\n+2\n`)).rejects.toThrow(
      'line 2 ends with no line break, but the patch says LF',
    )
    writeFileSync(join(root, 'a.ts'), 'one\n')
    expect((await propose(root, 'a.ts', 'one')).warnings).toEqual(['No newline at the end of the file.'])
  })

  test('keeps the byte order mark, whether the agent sees it or not', async () => {
    const root = makeWorkspace({ 'a.cs': '\ufeffone\ntwo\n' })
    const patch = (mark: string) => `${headers('a.cs')}@@ -1,2 +1,2 @@\n-${mark}one\n+${mark}1\n two\n`
    for (const diff of [patch(''), patch('\ufeff'), '1\ntwo\n', '\ufeff1\ntwo\n']) {
      const change = await propose(root, 'a.cs', diff)
      expect(change).toMatchObject({ diff: patch(''), risk: 'low', warnings: ['The file keeps its byte order mark.'] })
      expect(textOf(change)).toBe('\ufeff1\ntwo\n')
    }
    const gone = await propose(root, 'a.cs', `${headers('a.cs')}@@ -1,2 +1,2 @@\n-\ufeffone\n+one\n two\n`)
    expect(gone.warnings).toEqual(['The byte order mark at the start of the file goes away.'])
    expect(shownDiff(gone).text).toContain('-<U+FEFF>one\n+one')
  })

  test.each([
    ['little', (text: string) => Buffer.from(text, 'utf16le')],
    ['big', (text: string) => Buffer.from(text, 'utf16le').swap16()],
  ])('keeps UTF-16 (%s endian) byte for byte', async (order, encode) => {
    const root = makeWorkspace({ 'a.reg': encode('\ufeffone\r\nzwei 日本 👩‍💻\r\n') })
    const change = await propose(
      root,
      'a.reg',
      `${headers('a.reg')}@@ -1,2 +1,2 @@\n-one\r\n+eins\r\n zwei 日本 👩‍💻\r\n`,
    )
    expect(change.after).toEqual(encode('\ufeffeins\r\nzwei 日本 👩‍💻\r\n'))
    expect(change.warnings).toEqual([`The file is UTF-16 (${order} endian) and stays so.`, 'Line endings: CRLF.'])
  })

  test('tells about the mode and about other names of the file', async () => {
    const root = makeWorkspace({ 'run.sh': 'a\n' })
    chmodSync(join(root, 'run.sh'), 0o755)
    linkSync(join(root, 'run.sh'), join(root, 'twin.sh'))
    expect((await propose(root, 'run.sh', 'b\n')).warnings).toEqual([
      ...(process.platform === 'win32' ? [] : ['The file stays executable.']),
      'The file has other names (hard links). They keep the old content.',
    ])
  })

  test('takes a file and a text of 5 MB', async () => {
    const line = `${'x'.repeat(99)}\n`
    const root = makeWorkspace({ 'big.txt': line.repeat(52_000) })
    const change = await propose(root, 'big.txt', `${line.repeat(51_999)}end\n`)
    expect(change).toMatchObject({ addedLines: 1, removedLines: 1 })
  })

  test('has a digest of what is written and where', async () => {
    const root = makeWorkspace({ 'a.ts': 'one\n', 'b.ts': 'one\n' })
    const digests = await Promise.all([
      propose(root, 'a.ts', 'two\n').then(changeDigest),
      propose(root, 'a.ts', `${headers('a.ts')}@@ -1 +1 @@\n-one\n+two\n`).then(changeDigest),
      propose(root, 'a.ts', 'three\n').then(changeDigest),
      propose(root, 'b.ts', 'two\n').then(changeDigest),
    ])
    expect(digests[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(digests[1]).toBe(digests[0])
    expect(new Set(digests).size).toBe(3)
  })
})

describe('a diff is refused', () => {
  const file = 'one\ntwo\nthree\n'
  const hunk = '@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n'
  const good = `${headers('a.ts')}${hunk}`
  test.each<[string, string, string, string]>([
    [
      'for another file',
      `${headers('b.ts')}${hunk}`,
      'invalid_diff',
      'It is for "a/b.ts", but the request names "a.ts"',
    ],
    ['if one header is another file', `--- a/a.ts\n+++ b/b.ts\n${hunk}`, 'invalid_diff', 'It is for "b/b.ts"'],
    ['for a file outside', `--- a/../a.ts\n+++ b/../a.ts\n${hunk}`, 'invalid_diff', 'It is for'],
    ['for two files', `${good}${headers('b.ts')}${hunk}`, 'invalid_diff', '2 files'],
    ['for the same file twice', `${good}${good}`, 'invalid_diff', '2 files'],
    ['without hunks', headers('a.ts'), 'invalid_diff', 'no "@@" part'],
    ['without headers', `diff --git a/a.ts b/a.ts\n${hunk}`, 'invalid_diff', 'Renames'],
    [
      'if it renames',
      `diff --git a/a.ts b/b.ts\nrename from a.ts\nrename to b.ts\n${good}`,
      'invalid_diff',
      'rename from',
    ],
    [
      'if it changes the mode',
      `diff --git a/a.ts b/a.ts\nold mode 100644\nnew mode 100755\n${good}`,
      'invalid_diff',
      'old mode',
    ],
    ['if it makes a link', `diff --git a/a.ts b/a.ts\nnew file mode 120000\n${good}`, 'invalid_diff', '120000'],
    ['if it is a submodule', `diff --git a/a.ts b/a.ts\nindex 1..2 160000\n${good}`, 'invalid_diff', '160000'],
    ['if it is binary', 'diff --git a/a.ts b/a.ts\nGIT binary patch\nliteral 3\n', 'invalid_diff', 'binary'],
    [
      'if the counts are wrong',
      good.replace('-1,3 +1,3', '-1,2 +1,2'),
      'invalid_diff',
      'at its line 3 does not have as many lines',
    ],
    ['if a hunk is cut', good.replace(' three\n', ''), 'invalid_diff', 'at its line 3 does not have as many lines'],
    ['with text between', `${good}\nAnd this is why.\n`, 'invalid_diff', 'And this is why.'],
    ['with a broken hunk', `${good}@@ bogus @@\n+evil\n`, 'invalid_diff', 'cannot be used'],
    ['if hunks overlap', `${good}@@ -2 +2 @@\n-two\n+2\n`, 'invalid_diff', 'overlap'],
    ['if it says to create', `--- /dev/null\n+++ b/a.ts\n@@ -0,0 +1 @@\n+x\n`, 'patch_conflict', 'this file exists'],
    [
      'if it takes the file for empty',
      `${headers('a.ts')}@@ -0,0 +1 @@\n+x\n`,
      'patch_conflict',
      'says that it is empty',
    ],
    ['if it deletes a part', '--- a/a.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n', 'patch_conflict', 'all of its lines'],
    [
      'if the context differs',
      good.replace(' one', ' One'),
      'patch_conflict',
      'line 1 is "one", but the patch says "One"',
    ],
    ['if white space differs', good.replace(' three', ' three '), 'patch_conflict', 'line 3'],
    ['at another line', good.replace('-1,3 +1,3', '-2,3 +2,3'), 'patch_conflict', 'line 2 is "two"'],
    ['behind the end', good.replace('-1,3 +1,3', '-9,3 +9,3'), 'patch_conflict', 'it has 3 lines'],
    ['if it changes nothing', file, 'invalid_diff', 'changes nothing'],
    ['if it puts back the same', `${headers('a.ts')}@@ -1 +1 @@\n-one\n+one\n`, 'invalid_diff', 'changes nothing'],
    [
      'if the newline mark is in the middle',
      `${headers('a.ts')}@@ -1 +1,2 @@\n one\n+x\n\\ No newline at end of file\n`,
      'invalid_diff',
      'not the last',
    ],
    ['with a NUL', 'a\0b', 'invalid_diff', 'NUL'],
    ['with half a character', 'a\ud800', 'invalid_diff', 'half a character'],
    ['over 5 MB', 'x'.repeat(5 * 1024 * 1024 + 1), 'invalid_diff', 'larger than 5 MB'],
    ['over 500,000 lines', '\n'.repeat(500_001), 'invalid_diff', '500,000 lines'],
  ])('%s', async (_, diff, code, why) => {
    const root = makeWorkspace({ 'a.ts': file })
    const error: unknown = await propose(root, 'a.ts', diff).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code, message: expect.stringContaining(why) })
  })

  test.each<[string, Uint8Array]>([
    ['binary data', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1])],
    ['Latin-1', Buffer.from('Grüße', 'latin1')],
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])],
    ['half of UTF-16', Buffer.from([0xff, 0xfe, 0x61])],
    ['half of big-endian UTF-16', Buffer.from([0xfe, 0xff, 0x61])],
    ['a broken pair in UTF-16', Buffer.from([0xff, 0xfe, 0x00, 0xd8])],
  ])('for a file of %s', async (_, bytes) => {
    const root = makeWorkspace({ 'a.bin': bytes })
    await expect(propose(root, 'a.bin', 'text')).rejects.toMatchObject({
      code: 'invalid_diff',
      message: expect.stringContaining('not UTF-8 or UTF-16 text'),
    })
  })

  test('for a file over 5 MB, without reading it', async () => {
    const root = makeWorkspace({ 'a.txt': Buffer.alloc(5 * 1024 * 1024 + 1, 'x') })
    await expect(propose(root, 'a.txt', 'small')).rejects.toMatchObject({ code: 'invalid_diff' })
  })

  test('if it takes the byte order mark from UTF-16', async () => {
    const root = makeWorkspace({ 'a.txt': Buffer.from('\ufeffone\n', 'utf16le') })
    await expect(propose(root, 'a.txt', `${headers('a.txt')}@@ -1 +1 @@\n-\ufeffone\n+two\n`)).rejects.toMatchObject({
      code: 'invalid_diff',
    })
  })

  test('for a path out of the workspace', async () => {
    const outside = makeWorkspace({ 'a.ts': 'secret\n' })
    const root = makeWorkspace()
    symlinkSync(outside, join(root, 'link'))
    for (const path of ['../a.ts', '/etc/passwd', 'link/a.ts']) {
      await expect(propose(root, path, 'x')).rejects.toMatchObject({ code: 'path_violation' })
    }
  })
})

describe('a change is critical', () => {
  test.each<[string, string]>([
    ['bidi', 'a \u202e b\n'],
    ['zero width', 'a\u200bb\n'],
    ['tag characters', 'a\u{e0041}b\n'],
    ['a variation selector', 'a\u{e0100}b\n'],
    ['an escape sequence', 'a\x1b[2K\n'],
    ['a Hangul filler', 'a\u3164b\n'],
    ['an overwritten line', 'evil()\rgood()\n'],
    ['padding', `good()${' '.repeat(10_000)}evil()\n`],
    ['padding with tabs', `good()${'\t'.repeat(100)}evil()\n`],
  ])('if it adds hidden text: %s', async (_, added) => {
    const root = makeWorkspace({ 'a.ts': 'one\n' })
    expect(await propose(root, 'a.ts', added)).toMatchObject({ risk: 'critical', hasHiddenText: true })
  })

  test('not if it removes hidden text, or leaves it', async () => {
    const root = makeWorkspace({ 'a.ts': 'a\u202eb\nc\n' })
    expect(await propose(root, 'a.ts', 'ab\nc\n')).toMatchObject({ risk: 'low' })
    const kept = await propose(root, 'a.ts', 'a\u202eb\nd\n')
    expect(kept).toMatchObject({ risk: 'low' })
    expect(shownDiff(kept).text).toContain(' a<U+202E>b\n-c\n+d')
  })

  test('if its name looks like another', async () => {
    const root = makeWorkspace()
    const change = await propose(root, 'src/\u0430pp.ts', 'x\n')
    expect(change).toMatchObject({ risk: 'critical', hasHiddenText: true })
    expect(shownDiff(change).text).toBe('--- /dev/null\n+++ b/src/<U+0430>pp.ts\n@@ -0,0 +1 @@\n+x')
    for (const name of ['отчёт.md', 'δοκιμή.txt', 'v2日本語.md', 'Grüße.txt', 'a_b-c.d.ts']) {
      expect(await propose(root, name, 'x\n')).toMatchObject({ risk: 'low' })
    }
    for (const name of ['сору.ts', 'ａpp.ts', '𝐚pp.ts', 'αpp.ts']) {
      expect(await propose(root, name, 'x\n')).toMatchObject({ risk: 'critical' })
    }
  })

  test('if the file is protected, by its name, its content or because the server reads it', async () => {
    const root = makeWorkspace({ 'package.json': '{"scripts":{}}' })
    mkdirSync(join(root, '.git'))
    expect(await propose(root, '.git/hooks/pre-commit', 'x\n')).toMatchObject({
      risk: 'critical',
      protectedBecause: expect.stringContaining('Git runs'),
    })
    expect(await propose(root, 'package.json', '{"scripts":{"x":"y"}}')).toMatchObject({ risk: 'critical' })
    expect(await propose(root, 'package.json', '{"name":"a","scripts":{}}')).toMatchObject({ risk: 'low' })
    const serverPaths = [join(root, 'tools')]
    expect(
      await proposeChange({ workspaceRoot: root, filePath: 'tools/mail.ts', diff: 'x', serverPaths }),
    ).toMatchObject({ risk: 'critical', protectedBecause: 'This server reads it.' })
  })
})

describe('the diff for people', () => {
  test('counts what it does not show', () => {
    const diff = `${headers('a.ts')}@@ -0,0 +1,320 @@\n${'+x\n'.repeat(320)}`
    const shown = shownDiff({ path: 'a.ts', diff }, { maxLines: 5 })
    expect(shown).toEqual({
      text: `${headers('a.ts')}@@ -0,0 +1,320 @@\n+x\n+x\n… 318 lines not shown`,
      hiddenLines: 318,
    })
    expect(shownDiff({ path: 'a.ts', diff }, { maxLines: 322 }).text).toMatch(/\+x\n… 1 line not shown$/)
    expect(shownDiff({ path: 'a.ts', diff }).hiddenLines).toBe(0)
  })

  test('counts what it does not show of a long line', () => {
    const diff = `${headers('a.ts')}@@ -0,0 +1 @@\n+${'x'.repeat(5_000)}\n`
    expect(shownDiff({ path: 'a.ts', diff }, { maxLineChars: 4 })).toEqual({
      text: `${headers('a.ts')}@@ - … 9 characters of this line not shown\n+xxx … 4,997 characters of this line not shown`,
      hiddenLines: 2,
    })
  })
})

describe("an operator's edit", () => {
  test('is a change of its own, with the difference to what the agent wrote', async () => {
    const root = makeWorkspace({ 'a.ts': 'one\n' })
    const agents = await propose(root, 'a.ts', 'two\n')
    const { change, difference } = await editedChange(agents, { workspaceRoot: root, diff: 'three\n' })
    expect(change).toMatchObject({ kind: 'modify', beforeHash: sha('one\n'), afterHash: sha('three\n'), warnings: [] })
    expect(changeDigest(change)).not.toBe(changeDigest(agents))
    expect(difference).toBe(`${headers('a.ts')}@@ -1 +1 @@\n-two\n+three\n`)
    const patch = `${headers('a.ts')}@@ -1 +1 @@\n-one\n+two\n`
    expect((await editedChange(agents, { workspaceRoot: root, diff: patch })).difference).toBe('')
  })

  test('tells that the file has changed meanwhile, and can keep what the agent deletes', async () => {
    const root = makeWorkspace({ 'a.ts': 'one\n' })
    const agents = await propose(root, 'a.ts', '--- a/a.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n')
    writeFileSync(join(root, 'a.ts'), 'other\n')
    const { change, difference } = await editedChange(agents, { workspaceRoot: root, diff: 'kept\n' })
    expect(change.warnings).toEqual(['The file has changed since the agent asked.'])
    expect(difference).toBe('--- /dev/null\n+++ b/a.ts\n@@ -0,0 +1 @@\n+kept\n')
  })
})
