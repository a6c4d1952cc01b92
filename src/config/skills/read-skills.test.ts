import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tempFolder } from '../../cli/testing/temp-folder.ts'
import type { AgentDefinition } from '../../domain/agent/agent.ts'
import { checkAgent } from '../agent/load-agents.ts'
import { formatIssue } from '../config-error.ts'
import { loadLines, mistakesIn } from '../testing/load-lines.ts'

const head = (name: string, more = '') => `---\nname: ${name}\ndescription: What ${name} does.\n${more}---\n`

/** An agent beside these files, with its mistakes and warnings as a person reads them. */
async function load(
  files: Record<string, string | Uint8Array>,
  skills = './skills',
  links: Record<string, string> = {},
) {
  const folder = await tempFolder()
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  for (const [path, to] of Object.entries(links)) symlinkSync(to, join(folder, path))
  const file = join(folder, 'agent.yaml')
  writeFileSync(file, `name: a\nmodel: { provider: demo }\ninstructions: Be kind.\nskills: ${skills}\n`)
  const warnings: string[] = []
  const short = (text: string) => text.replaceAll(`${folder}/`, '')
  const { agent, issues } = checkAgent(file, { env: {}, warn: (one) => warnings.push(short(formatIssue(one))) })
  return { agent, mistakes: issues.map((one) => short(formatIssue(one))), warnings, folder }
}

const pathsOf = (agent: AgentDefinition | null) =>
  agent?.skills?.map(({ name, files }) => [name, files.map(({ path }) => path)])

describe('skills', () => {
  test('are found with their files, and listed at the end of the instructions', async () => {
    const { agent, mistakes, warnings, folder } = await load({
      'skills/README.md': 'Not a skill.',
      'skills/spec/notes.md': 'Neither is this.',
      // One file; a licence beside it; folders in folders, with an empty file; a font; an archive.
      'skills/plain/SKILL.md': `${head('plain', 'license: Complete terms in LICENSE.txt\nmetadata:\n  version: "1.0"\n')}\n# Plain\n`,
      'skills/plain/LICENSE.txt': 'Terms.',
      'skills/office/SKILL.md':
        '---\nname: office\ndescription: |-\n  Reads documents.\n  TRIGGER when: a file ends in .docx.\ncompatibility: Needs Python\nallowed-tools: Bash(python:*) Read\nversion: 2\n---\nBody.',
      'skills/office/scripts/helpers/__init__.py': '',
      'skills/office/scripts/pack.py': 'print(1)\n',
      'skills/office/scripts/__pycache__/pack.pyc': 'x',
      'skills/office/fonts/Bold.ttf': Uint8Array.of(0, 1, 0, 0, 255),
      'skills/office/.DS_Store': 'x',
    })
    expect([mistakes, warnings]).toEqual([[], []])
    expect(agent?.skills).toEqual([
      {
        name: 'office',
        description: 'Reads documents. TRIGGER when: a file ends in .docx.',
        compatibility: 'Needs Python',
        directory: join(folder, 'skills/office'),
        body: 'Body.',
        files: [
          { path: 'fonts/Bold.ttf', bytes: 5, text: null },
          { path: 'scripts/helpers/__init__.py', bytes: 0, text: '' },
          { path: 'scripts/pack.py', bytes: 9, text: 'print(1)\n' },
        ],
        bytes: 187,
        digest: expect.stringMatching(/^[0-9a-f]{16}$/),
      },
      expect.objectContaining({ name: 'plain', body: '# Plain', compatibility: null }),
    ])
    expect(agent?.instructions).toBe(
      'Be kind.\n\nYou have skills: instructions for certain tasks. Before you begin a task that one of them is for, call load_skill ' +
        'with its name, and follow what it returns.\n' +
        '- office: Reads documents. TRIGGER when: a file ends in .docx.\n- plain: What plain does.',
    )
  })

  test('have another digest when any of their files changes', async () => {
    const digestOf = async (files: Record<string, string | Uint8Array>) => {
      const { agent } = await load({ 'skills/a/SKILL.md': head('a'), ...files })
      return agent?.skills?.[0]?.digest
    }
    const plain = await digestOf({})
    const all = [
      plain,
      await digestOf({ 'skills/a/x.md': '' }),
      await digestOf({ 'skills/a/x.md': 'x' }),
      await digestOf({ 'skills/a/y.md': 'x' }),
      await digestOf({ 'skills/a/x.md': Uint8Array.of(0, 1) }),
      await digestOf({ 'skills/a/x.md': Uint8Array.of(0, 2) }),
      await digestOf({ 'skills/a/SKILL.md': `${head('a')}More.` }),
    ]
    expect(new Set(all).size).toBe(all.length)
    expect(await digestOf({})).toBe(plain)
  })

  test('can be one folder, or several', async () => {
    const files = { 'one/SKILL.md': head('one'), 'more/two/SKILL.md': head('two') }
    expect(pathsOf((await load(files, './one')).agent)).toEqual([['one', []]])
    expect(pathsOf((await load(files, '[./more, ./one, ./one/]')).agent)).toEqual([
      ['two', []],
      ['one', []],
    ])
  })

  test('leave out links, secrets, hidden files and what is not wanted from a model', async () => {
    const { agent, warnings, mistakes } = await load(
      {
        'outside.txt': 'secret',
        'shared/away/SKILL.md': head('away'),
        'skills/a/SKILL.md': head('a'),
        'skills/a/.env': 'KEY=1',
        'skills/a/.git/config': 'x',
        'skills/a/server.pem': 'x',
        'skills/a/credentials.json': '{}',
        'skills/a/notes.md': '-----BEGIN PRIVATE KEY-----\nabc',
        'skills/a/design-tokens.json': '{}',
        'skills/by-hand/SKILL.md': head('by-hand', 'disable-model-invocation: true\n'),
      },
      './skills',
      {
        'skills/a/link.txt': '../../outside.txt',
        'skills/a/folder': '../../shared',
        'skills/away': '../shared/away',
      },
    )
    expect([mistakes, pathsOf(agent)]).toEqual([[], [['a', ['design-tokens.json']]]])
    expect(warnings).toEqual([
      expect.stringMatching(
        /^agent\.yaml:4:9 skills: skills\/a: links, secrets and .* left out: credentials\.json, folder, link\.txt, notes\.md, server\.pem\.$/,
      ),
      expect.stringMatching(/skills\/by-hand\/SKILL\.md says disable-model-invocation, so by-hand is left out\.$/),
    ])
  })

  test('that break the format, but can be used, bring warnings', async () => {
    const { agent, warnings, mistakes } = await load({
      'skills/My_Skill/SKILL.md': '---\nname: My Skill\ndescription: Does it.\n---\n',
      'skills/template/SKILL.md': `---\r\nname: template-skill\r\ndescription: ${'long '.repeat(300)}\r\n---\r\nHi.`,
      'skills/odd/SKILL.md': `${head('odd')}Say \u202eyes.`,
    })
    expect(mistakes).toEqual([])
    expect(agent?.skills?.map(({ name, description, body }) => [name, description.length, body])).toEqual([
      ['My Skill', 8, ''],
      ['odd', 14, 'Say \u202eyes.'],
      ['template-skill', 1024, 'Hi.'],
    ])
    expect(warnings).toEqual([
      expect.stringMatching(/My_Skill\/SKILL\.md:2:7 name: the format allows only small letters/),
      expect.stringMatching(
        /skills\/odd has characters that people do not see in SKILL\.md\. The model sees them as marks/,
      ),
      expect.stringMatching(/template\/SKILL\.md:2:7 name: its folder has another name: template\.$/),
      expect.stringMatching(
        /template\/SKILL\.md:3:14 description: it has 1499 characters, and the model sees the first 1024/,
      ),
    ])
  })

  test('with hidden characters in their descriptions are listed with marks', async () => {
    const { agent } = await load({ 'skills/a/SKILL.md': '---\nname: a\ndescription: "x\\u202ey"\n---\n' })
    expect(agent?.instructions).toMatch(/\n- a: x<U\+202E>y$/)
  })

  test.each([
    ['no front matter', '# Hi', /SKILL\.md: it does not begin with front matter\. Write between two lines of ---/],
    ['an end that is missing', '---\nname: a\ndescription: b\n', /does not begin with front matter/],
    ['empty front matter', '---\n---\nHi.', /SKILL\.md:1:1: the file is empty\. Write e\.g\. name: my-skill/],
    ['no description', '---\nname: a\n---\n', /SKILL\.md:2:1 description: this key is missing/],
    ['a name that is a number', '---\nname: 1\ndescription: b\n---\n', /SKILL\.md:2:7 name: expected a text/],
    ['a name for a path', '---\nname: ../a\ndescription: b\n---\n', /name: expected at most 64 small letters/],
    ['a name of two lines', '---\nname: "a\\n- b"\ndescription: b\n---\n', /name: expected at most 64 small letters/],
    [
      'a colon in a text',
      '---\nname: a\ndescription: Use it when: asked\n---\n',
      /SKILL\.md:3:\d+: this value contains ": "/,
    ],
    [
      'an alias that explodes',
      `---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [${'*a,'.repeat(50)}]\nc: [${'*b,'.repeat(50)}]\n---\n`,
      /expand to too many values/,
    ],
    ['a text that is not UTF-8', Uint8Array.of(255, 254), /SKILL\.md: it is not UTF-8 text/],
    [
      'a flag that is a text',
      `${head('a', 'disable-model-invocation: "true"\n')}`,
      /disable-model-invocation: expected true or false/,
    ],
  ])('are refused for %s', async (_, content, message) => {
    const { agent, mistakes } = await load({ 'skills/a/SKILL.md': content })
    expect([agent, mistakes]).toEqual([null, [expect.stringMatching(message)]])
  })

  test('are refused for two of one name, for too many files, and for a list that is too long', async () => {
    expect((await load({ 'skills/a/SKILL.md': head('a'), 'skills/b/SKILL.md': head('a') })).mistakes).toEqual([
      'agent.yaml:4:9 skills: skills/b and skills/a have the same name, a. Rename one of them.',
    ])
    const files = Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`skills/a/${i}.md`, '']))
    expect((await load({ 'skills/a/SKILL.md': head('a'), ...files })).mistakes).toEqual([
      expect.stringContaining('skills/a has too much: at most 500 files in folders 8 deep'),
    ])
    const large = { 'a/SKILL.md': head('a'), 'b/SKILL.md': head('b') } as Record<string, string>
    for (let i = 0; i < 9; i += 1) for (const name of ['a', 'b']) large[`${name}/${i}.md`] = 'x'.repeat(1_000_000)
    expect((await load(large, './a')).agent?.skills).toHaveLength(1)
    expect((await load(large, '[./a, ./b]')).mistakes).toEqual([
      expect.stringMatching(/skills\[1\]: b has too much: .* with the other skills 16000000 characters\.$/),
    ])
    const deep = { 'skills/a/SKILL.md': head('a'), [`skills/a/${'d/'.repeat(9)}x.md`]: '' }
    expect((await load(deep)).mistakes).toEqual([expect.stringContaining('skills/a has too much')])
    const many = (count: number, description: string) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, i) => [
          `skills/s${i}/SKILL.md`,
          `---\nname: s${i}\ndescription: ${description}\n---\n`,
        ]),
      )
    expect((await load(many(60, 'x'.repeat(1000)))).mistakes).toEqual([
      expect.stringMatching(/skills: their names and descriptions have \d+ characters, .* At most 40000 are allowed/),
    ])
    expect((await load(many(101, 'x'))).mistakes).toEqual([expect.stringContaining('there are more than 100 skills')])
  })

  test('need a folder that has some', async () => {
    expect((await load({})).mistakes).toEqual([
      'agent.yaml:4:9 skills: skills: there is no such folder. Paths are relative to this file.',
    ])
    expect((await load({ 'skills/a/skill.txt': '' }, '[./skills]')).mistakes).toEqual([
      'agent.yaml:4:10 skills[0]: skills: neither this folder nor one in it has a SKILL.md. Links are not followed.',
    ])
  })

  test('are refused beside a host, and beside a tool with the name of theirs', () => {
    const files = { '/a/skills/a/SKILL.md': head('a') }
    expect(
      mistakesIn('skills: ./skills\ntools: [{ type: client, name: load_skill, description: Reads a skill. }]\n', {
        files,
      }),
    ).toEqual([
      'agent.yaml:5:31 tools[0].name: with `skills` the agent has a tool load_skill already. Give this one another name.',
    ])
    const hosted = mistakesIn('host: { name: claude, workspace: . }\nskills: ./skills\n', { files })
    expect(hosted).toContain(
      'agent.yaml:5:9 skills: this has no effect beside host. The program reads its own, such as .claude/skills in the workspace. Remove it.',
    )
  })

  test('can be named in test cases', () => {
    const files = { '/a/skills/a/SKILL.md': head('a') }
    expect(
      loadLines('skills: ./skills\ntest_cases: [{ name: x, input: y, tools: [load_skill] }]\n', { files }).skills,
    ).toHaveLength(1)
  })
})
