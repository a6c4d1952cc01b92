import { expect, test } from 'vitest'
import type { Skill } from '../domain/agent/skill.ts'
import { createSkillTool } from './create-skill-tool.ts'
import { never, toolCall } from './testing/tool-call.ts'

const skill: Skill = {
  name: 'letters',
  description: 'Writes letters.',
  compatibility: 'Needs LibreOffice',
  directory: '/srv/skills/letters',
  body: 'Use the \u202etemplate.',
  files: [
    { path: 'fonts/Bold.ttf', bytes: 5, text: null },
    { path: 'scripts/print.py', bytes: 9, text: 'print(1)\n' },
  ],
  bytes: 40,
  digest: '0123456789abcdef',
}
const call = (args: Record<string, unknown>, most = 50_000, one: Skill = skill) =>
  createSkillTool([one], most).call(toolCall({ name: 'letters', ...args }), never)

test('returns the instructions, what they need and which files there are', async () => {
  expect(await call({})).toEqual({
    isError: false,
    content: [
      '[Skill letters]',
      '[Its author says what it needs: Needs LibreOffice]',
      '[Files of this skill, which load_skill reads with `file`: fonts/Bold.ttf (5 bytes, not readable as text), scripts/print.py ' +
        '(9 bytes). A script runs only with another tool that you have; without one, say that it was not run.]',
      'Use the <U+202E>template.',
    ].join('\n'),
  })
})

test.each(['scripts/print.py', './scripts/print.py', 'letters/scripts/print.py', 'scripts\\print.py'])(
  'reads a file that is named %s, and runs nothing',
  async (file) => {
    expect(await call({ file })).toEqual({
      isError: false,
      content: '[scripts/print.py of the skill letters. It was read, not run.]\nprint(1)\n',
    })
  },
)

test.each(['../letters/SKILL.md', '/etc/passwd', 'scripts/../scripts/print.py', 'scripts', '', '__proto__', '.env'])(
  'has no file %s',
  async (file) => {
    const { content, isError } = await call({ file })
    expect([isError, content]).toEqual([true, expect.stringContaining('has no file')])
    expect(content).toContain('scripts/print.py (9 bytes)')
  },
)

test('says what it cannot show', async () => {
  expect(await call({ file: 'fonts/Bold.ttf' })).toEqual({
    isError: true,
    content:
      'fonts/Bold.ttf of the skill letters is not text, or larger than 1 MiB, so it cannot be read here: 5 bytes.',
  })
  expect((await call({ file: 'scripts/prnt.py' })).content).toContain('Did you mean scripts/print.py?')
})

test('what is long comes in pages, which together are the whole text', async () => {
  const text = Array.from({ length: 400 }, (_, i) => `${i} 😀\u200b`).join('\n')
  const long = { ...skill, body: text, files: [{ path: 'long.md', bytes: text.length, text }] }
  for (const file of [undefined, 'long.md']) {
    let read = ''
    for (let offset: number | null = 0; offset !== null; ) {
      const { content }: { content: string } = await call({ file, offset }, 1_000, long)
      expect(content.length).toBeLessThanOrEqual(1_000)
      const [, shown = '', , again] =
        /^((?:\[.*\]\n)+)?([\s\S]*?)(\n\[There is more: call load_skill again with (.*)\.\])?$/
          .exec(content)
          ?.slice(1) ?? []
      read += shown
      const next = again === undefined ? null : JSON.parse(again)
      if (next !== null)
        expect(next).toEqual({ name: 'letters', ...(file === undefined ? {} : { file }), offset: next.offset })
      offset = next === null ? null : next.offset
    }
    expect(read).toBe(text.replaceAll('\u200b', '<U+200B>'))
  }
  expect((await call({ offset: 1_000_000 }, 1_000, long)).content).toContain('There is nothing after offset 1000000')
})

test('its binding changes with a skill, so that an approval of an agent that has it does too', () => {
  const { binding } = createSkillTool([skill], 1_000)
  expect(createSkillTool([skill], 1_000).binding).toBe(binding)
  expect(createSkillTool([{ ...skill, digest: 'other' }], 1_000).binding).not.toBe(binding)
})
