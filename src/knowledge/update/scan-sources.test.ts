import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync } from 'node:fs'
import { mkdir, rename, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scanLimits, scanSources } from './scan-sources.ts'
import { newFolder, writeFiles } from './testing/write-files.ts'

const never = new AbortController().signal

async function scan(
  directory: string,
  sources: string | string[],
  { ignore = [] as string[], excluded = [] as string[], limits = {}, allowed = ['/'] } = {},
) {
  const settings = { directory, folders: allowed, sources: [sources].flat(), ignore }
  const { files, problems, folders } = await scanSources(settings, excluded, never, { ...scanLimits, ...limits })
  return {
    files,
    paths: files.map(({ path }) => path),
    problems: Object.fromEntries(problems.map(({ path, why }) => [path, why])),
    folders: folders.map((folder) => folder.replace(directory, '.')).sort(),
  }
}

describe('scanning sources', () => {
  test('finds the files of a folder, with what tells whether they have changed', async () => {
    const folder = await newFolder()
    await writeFiles(folder, { 'docs/b.md': 'two', 'docs/a/deep.txt': 'one', 'other.md': 'x' })
    const { files, problems, folders } = await scan(folder, './docs')

    expect(files).toEqual([
      {
        path: 'a/deep.txt',
        absolute: join(folder, 'docs/a/deep.txt'),
        root: join(folder, 'docs'),
        bytes: 3,
        changedMs: expect.any(Number),
      },
      expect.objectContaining({ path: 'b.md', bytes: 3 }),
    ])
    expect(problems).toEqual({})
    expect(folders).toEqual(['./docs', './docs/a'])
  })

  test('takes a single file, and a file whose name looks like a pattern', async () => {
    const folder = await newFolder()
    await writeFiles(folder, { 'a.md': '1', 'draft [1].md': '2', 'draft 1.md': '3' })

    expect((await scan(folder, 'a.md')).paths).toEqual(['a.md'])
    expect((await scan(folder, 'draft [1].md')).paths).toEqual(['draft [1].md'])
  })

  test.each([
    ['docs/*.md', ['a.md', 'b.md']],
    ['docs/**/*.md', ['a.md', 'b.md', 'x/c.md', 'x/y/d.md']],
    ['docs/?.{md,txt}', ['a.md', 'b.md', 'e.txt']],
    ['docs/{x/y,x}/*', ['x/c.md', 'x/y/d.md']],
    ['docs/[!b].md', ['a.md']],
    ['docs/x/../**/d.md', ['x/y/d.md']],
    ['docs/{a,{b,c}}.md', ['a.md', 'b.md']],
    ['**/c.md', ['docs/x/c.md']],
  ])('%s', async (pattern, paths) => {
    const folder = await newFolder()
    await writeFiles(folder, {
      'docs/a.md': '',
      'docs/b.md': '',
      'docs/e.txt': '',
      'docs/x/c.md': '',
      'docs/x/y/d.md': '',
    })

    expect(await scan(folder, pattern)).toMatchObject({ paths, problems: {} })
  })

  test('walks no deeper than a pattern reaches', async () => {
    const folder = await newFolder()
    await writeFiles(folder, { 'docs/a.md': '', 'docs/x/c.md': '', 'docs/x/y/d.md': '' })

    expect((await scan(folder, 'docs/*/*.md')).folders).toEqual(['./docs', './docs/x'])
  })

  test('names sources that do not exist, and patterns that nothing has, and watches where they may appear', async () => {
    const folder = await newFolder()
    await writeFiles(folder, { 'docs/a.md': '' })
    const bombs = `docs/${'{a,b}'.repeat(30)}.md`

    expect(await scan(folder, ['gone/deep', 'docs/*.pdf', bombs])).toEqual({
      files: [],
      paths: [],
      problems: {
        'gone/deep': 'It does not exist.',
        'docs/*.pdf': 'There is no such file.',
        [bombs]: 'There is no such file.',
      },
      folders: ['.', './docs'],
    })
  })

  test('gives the files of several sources names that are readable and unique', async () => {
    const [folder, elsewhere] = [await newFolder(), await newFolder()]
    await writeFiles(folder, { 'agent/docs/a.md': '', 'agent/notes/n.md': '', 'agent/b.md': '' })
    await writeFiles(elsewhere, { 'wiki/a.md': '', 'one/docs/a.md': '', 'two/docs/a.md': '', 'single.md': '' })
    const at = (path: string) => join(elsewhere, path)
    const sources = ['docs', 'notes/*.md', 'docs/a.md', at('wiki'), at('one/docs'), at('two/docs'), at('single.md')]
    const own = elsewhere.split('/').at(-1)

    expect(await scan(join(folder, 'agent'), sources)).toMatchObject({
      paths: ['docs/a.md', `${own}/single.md`, 'notes/n.md', 'one/docs/a.md', 'two/docs/a.md', 'wiki/a.md'].sort(),
      problems: {},
    })
  })

  test('says so when two files would have one name', async () => {
    const [folder, elsewhere] = [await newFolder(), await newFolder()]
    await writeFiles(folder, { 'docs/a.md': '' })
    await writeFiles(elsewhere, { 'docs/a.md': '', 'docs/b.md': '' })

    expect(await scan(folder, ['.', join(elsewhere, 'docs')])).toMatchObject({
      paths: ['docs/a.md', 'docs/b.md'],
      problems: { [join(elsewhere, 'docs/a.md')]: expect.stringContaining('Another file is called docs/a.md') },
    })
  })

  test('honours .gitignore in every folder, and then the lines of the settings', async () => {
    const folder = await newFolder()
    await writeFiles(folder, {
      '.gitignore': '*.log\nbuild/\n',
      'a.md': '',
      'a.log': '',
      'build/b.md': '',
      'sub/.gitignore': '!keep.log\n/c.md\n',
      'sub/keep.log': '',
      'sub/c.md': '',
      'sub/sub/c.md': '',
      'drafts/d.md': '',
    })

    expect(await scan(folder, '.', { ignore: ['drafts', '# a note'] })).toMatchObject({
      paths: ['a.md', 'sub/keep.log', 'sub/sub/c.md'],
      problems: {},
      folders: ['.', './sub', './sub/sub'],
    })
  })

  test('applies no rules from a link or from a file that is too large', async () => {
    const folder = await newFolder()
    await writeFiles(folder, {
      rules: '*\n',
      'docs/.gitignore': { to: '../rules' },
      'docs/a.md': '',
      'docs/sub/.gitignore': `${'x'.repeat(scanLimits.ignoreBytes)}\n*`,
      'docs/sub/b.md': '',
    })

    expect(await scan(folder, 'docs')).toMatchObject({
      paths: ['a.md', 'sub/b.md'],
      problems: { 'sub/.gitignore': 'It is too large. Its rules do not apply.' },
    })
  })

  test('leaves out hidden files, modules and our own folders, and names the secrets that it leaves out', async () => {
    const folder = await newFolder()
    await writeFiles(folder, {
      'a.md': '',
      '.git/config': '',
      '.hidden/a.md': '',
      '.DS_Store': '',
      'node_modules/x/readme.md': '',
      'data/quarterdeck.txt': '',
      '.env': 'KEY=1',
      'server.pem': '',
      'sub/ID_RSA': '',
      'sub/api-token.txt': '',
    })

    expect(await scan(folder, '.', { excluded: [join(folder, 'data')] })).toMatchObject({
      paths: ['a.md'],
      problems: {
        '.env': 'Such a file holds passwords and keys of the environment.',
        'server.pem': 'Such a file holds a key.',
        'sub/ID_RSA': 'Such a file holds a key.',
        'sub/api-token.txt': 'Such a file holds passwords or tokens.',
      },
    })
    expect((await scan(folder, 'server.pem')).problems).toEqual({ 'server.pem': 'Such a file holds a key.' })
    expect((await scan(folder, '.hidden')).paths).toEqual(['a.md'])
  })

  test('follows links inside the source, never out of it, and never in circles', async () => {
    const folder = await newFolder()
    await writeFiles(folder, {
      'out/secret.md': 'x',
      'docs/.data/real.md': 'x',
      'docs/latest.md': { to: '.data/real.md' },
      'docs/v1/a.md': 'x',
      'docs/current': { to: 'v1' },
      'docs/hidden': { to: '.data' },
      'docs/v1/up': { to: '..' },
      'docs/self': { to: 'self' },
      'docs/nowhere': { to: 'missing.md' },
      'docs/file': { to: '../out/secret.md' },
      'docs/folder': { to: '../out' },
      'docs/sly': { to: 'v1/../../out/secret.md' },
      'docs/.env': 'KEY=1',
      'docs/plain.txt': { to: '.env' },
      'docs/node_modules/x.md': 'x',
      'docs/module.md': { to: 'node_modules/x.md' },
    })

    expect(await scan(folder, 'docs')).toMatchObject({
      paths: ['hidden/real.md', 'latest.md', 'v1/a.md'],
      problems: {
        self: 'It is a link that leads nowhere.',
        nowhere: 'It is a link that leads nowhere.',
        file: 'It is a link that leads out of the source.',
        folder: 'It is a link that leads out of the source.',
        sly: 'It is a link that leads out of the source.',
        '.env': 'Such a file holds passwords and keys of the environment.',
        'plain.txt': 'Such a file holds passwords and keys of the environment.',
      },
    })
  })

  test('reads no source that has become a link out of what the agent may read', async () => {
    const folder = await newFolder()
    await writeFiles(folder, { 'agent/a.md': 'x', 'other/secret.md': 'x', 'shared/b.md': 'x' })
    await writeFiles(folder, { 'agent/docs': { to: '../other' }, 'agent/one.md': { to: '../other/secret.md' } })
    await writeFiles(folder, { 'agent/shared': { to: '../shared' } })
    const folders = [join(folder, 'agent'), join(folder, 'shared')]
    const why = 'It is a link that leads out of what the agent may read.'

    const sources = ['docs', 'docs/*.md', 'one.md', 'shared', 'missing']
    expect(await scan(join(folder, 'agent'), sources, { allowed: folders })).toMatchObject({
      paths: ['shared/b.md'],
      problems: { docs: why, 'docs/*.md': why, 'one.md': why, missing: 'It does not exist.' },
    })
  })

  test('follows no link to what is ignored', async () => {
    const folder = await newFolder()
    await writeFiles(folder, {
      'docs/.gitignore': 'private/\nb/*.secret.md\n/.data/own.md\n',
      'docs/private/a.md': 'x',
      'docs/a.md': { to: 'private/a.md' },
      'docs/all': { to: 'private' },
      'docs/b/.gitignore': 'draft.md',
      'docs/b/draft.md': 'x',
      'docs/b/one.secret.md': 'x',
      'docs/b/left/c.md': 'x',
      'docs/draft': { to: 'b/draft.md' },
      'docs/one.md': { to: 'b/one.secret.md' },
      'docs/left.md': { to: 'b/left/c.md' },
      'docs/.data/own.md': 'x',
      'docs/.data/all.md': 'x',
      'docs/.data/deep/.gitignore': 'no.md',
      'docs/.data/deep/no.md': 'x',
      'docs/data': { to: '.data' },
    })

    expect(await scan(folder, 'docs', { ignore: ['left/'] })).toMatchObject({ paths: ['data/all.md'], problems: {} })
  })

  test('takes a source that is itself a link, and watches where the link is', async () => {
    const folder = await newFolder()
    await writeFiles(folder, { 'real/docs/a.md': 'x', 'real/docs/up.md': { to: '../b.md' }, 'real/b.md': 'x' })
    await writeFiles(folder, { 'agent/docs': { to: '../real/docs' }, 'agent/one.md': { to: '../real/b.md' } })

    expect(await scan(join(folder, 'agent'), 'docs')).toMatchObject({
      files: [{ path: 'a.md', absolute: join(folder, 'real/docs/a.md'), root: join(folder, 'real/docs') }],
      problems: { 'up.md': 'It is a link that leads out of the source.' },
      folders: ['.', `${folder}/real/docs`].sort(),
    })
    expect((await scan(join(folder, 'agent'), 'one.md')).files).toMatchObject([
      { path: 'one.md', absolute: join(folder, 'real/b.md') },
    ])
  })

  test('names pipes and files that are too large, and opens neither', async () => {
    const folder = await newFolder()
    await writeFiles(folder, { 'a.md': 'x', 'large.pdf': 'x' })
    execFileSync('mkfifo', [join(folder, 'pipe')])
    await truncate(join(folder, 'large.pdf'), 61_400_000)

    expect(await scan(folder, '.')).toMatchObject({
      paths: ['a.md'],
      problems: {
        pipe: 'It is not a regular file.',
        'large.pdf': 'It has 61.4 MB. Files of more than 50 MB are not read.',
      },
    })
  })

  test('names a file whose name is not UTF-8, or too long for the index', async () => {
    const folder = await newFolder()
    await writeFile(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0x61])]), 'x')
    const long = Array.from({ length: 9 }, () => 'ä'.repeat(120)).join('/')
    await writeFiles(folder, { [`${long}/a.md`]: 'x' })

    expect((await scan(folder, '.')).problems).toEqual({
      '\ufffda': 'Its name is not UTF-8.',
      [`${long}/a.md`.slice(0, 500)]: 'Its path is longer than 2000 bytes.',
    })
  })

  test('stops at its limits and says so', async () => {
    const folder = await newFolder()
    await writeFiles(folder, { 'a.md': '', 'b.md': '', 'c.md': '', 'x/y/z/d.md': '' })

    const few = await scan(folder, '.', { limits: { files: 2 } })
    expect(few.paths).toHaveLength(2)
    expect(few.problems).toEqual({ 'The sources': expect.stringContaining('more than 2 files') })
    expect(await scan(folder, '.', { limits: { depth: 2 } })).toMatchObject({
      paths: ['a.md', 'b.md', 'c.md'],
      problems: { 'x/y/z/': 'It is more than 2 folders deep.' },
    })
  })

  test('bears folders that move while it walks', async () => {
    const folder = await newFolder()
    const files = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`d${i}/sub/a.md`, 'x']))
    await writeFiles(folder, files)
    const scanning = scan(folder, '.')
    for (let i = 0; i < 200; i += 2) await rename(join(folder, `d${i}`), join(folder, `e${i}`))

    const { problems, paths } = await scanning
    expect(problems).toEqual({})
    expect(paths.length).toBeGreaterThanOrEqual(100)
  })

  test('stops when it is told to', async () => {
    const folder = await newFolder()
    await writeFiles(folder, { 'a/b/c.md': '' })
    const stop = new AbortController()
    stop.abort(new Error('enough'))

    await expect(
      scanSources({ directory: folder, folders: ['/'], sources: ['.'], ignore: [] }, [], stop.signal),
    ).rejects.toThrow('enough')
  })

  test('lets others work while it walks', async () => {
    const folder = await newFolder()
    for (let i = 0; i < 50; i += 1) {
      mkdirSync(join(folder, `d${i}`))
      for (let j = 0; j < 40; j += 1) appendFileSync(join(folder, `d${i}`, `${j}.md`), 'x')
    }
    await mkdir(join(folder, 'empty'))
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 1)
    const { paths } = await scan(folder, '.')
    clearInterval(timer)

    expect(paths).toHaveLength(2_000)
    expect(turns).toBeGreaterThan(5)
  })
})
