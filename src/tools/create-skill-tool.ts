// The tool with which an agent reads its skills. It has everything in memory that it can return, so no name leads anywhere else.

import { LOAD_SKILL, type Skill, type SkillFile } from '../domain/agent/skill.ts'
import { didYouMean } from '../domain/text/did-you-mean.ts'
import { visibleProse } from '../domain/text/visible-text.ts'
import type { ServerTool, ToolOutcome } from './tool.ts'
import { toolBinding } from './tool-binding.ts'

/** In characters. A result shows at least this much, however small the limit is. */
const LEAST_CHARS = 400
/** Of one result, for the lines around the text. */
const FRAME_CHARS = 400
const SKILL = 'SKILL.md'

/** `mostChars`: of one result. */
export function createSkillTool(skills: readonly Skill[], mostChars: number): ServerTool {
  const parameters = {
    type: 'object',
    properties: {
      name: { type: 'string', enum: skills.map(({ name }) => name), description: 'Name of the skill.' },
      file: {
        type: 'string',
        description: 'A file of the skill, as its list of files says. Default: its instructions.',
      },
      offset: {
        type: 'integer',
        minimum: 0,
        description: 'Characters to skip. A result that is not the end says which offset comes next.',
      },
    },
    required: ['name'],
    additionalProperties: false,
  }
  return {
    location: 'server',
    name: LOAD_SKILL,
    description: 'Reads the instructions of a skill, or a file that belongs to it. It runs nothing.',
    parameters,
    returns: null,
    ...{ effect: 'read', risk: 'low', timeoutMs: 30_000, retries: 0, approval: { ask: 'never' }, predictState: [] },
    binding: toolBinding(
      'code',
      skills.map(({ name, digest }) => ({ name, digest })),
    ),
    async call({ arguments: { name, file, offset }, resultChars }) {
      const skill = skills.find((one) => one.name === name)
      if (skill === undefined) return failed(`There is no skill ${JSON.stringify(name)}.`)
      const most = Math.max(LEAST_CHARS, Math.min(mostChars, resultChars) - FRAME_CHARS)
      const from = typeof offset === 'number' ? offset : 0
      const path = pathIn(skill, String(file ?? SKILL))
      return path === SKILL ? instructions(skill, from, most) : fileOf(skill, path, from, most)
    },
  }
}

const failed = (content: string): ToolOutcome => ({ content, isError: true })
const said = (parts: readonly string[]): ToolOutcome => ({ content: parts.join('\n'), isError: false })

/** Skills name their files as `./notes.md`, `notes.md`, or with the folder before it. */
function pathIn({ name, files }: Skill, written: string): string {
  const path = written.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '')
  const short = path.startsWith(`${name}/`) ? path.slice(name.length + 1) : path
  return short === SKILL || files.some((one) => one.path === short) ? short : path
}

function instructions(skill: Skill, from: number, most: number): ToolOutcome {
  const list = from > 0 ? [] : aboutFiles(skill, Math.floor(most / 4))
  const needs =
    skill.compatibility === null || from > 0 ? [] : [`[Its author says what it needs: ${skill.compatibility}]`]
  const rest = most - [...list, ...needs].join('\n').length
  return said([
    `[Skill ${skill.name}]`,
    ...needs,
    ...list,
    ...page(skill.body, from, Math.max(LEAST_CHARS, rest), { name: skill.name }),
  ])
}

function aboutFiles({ files }: Skill, mostChars: number): string[] {
  if (files.length === 0) return []
  let shown = ''
  let count = 0
  for (const file of files) {
    const next = `${shown === '' ? '' : ', '}${describe(file)}`
    if (shown.length + next.length > mostChars) break
    shown += next
    count += 1
  }
  const more = count < files.length ? ` and ${files.length - count} more` : ''
  return [
    `[Files of this skill, which ${LOAD_SKILL} reads with \`file\`: ${shown}${more}. A script runs only with another tool that you have; ` +
      'without one, say that it was not run.]',
  ]
}

const describe = ({ path, bytes, text }: SkillFile): string =>
  `${path} (${bytes} bytes${text === null ? ', not readable as text' : ''})`

function fileOf(skill: Skill, path: string, from: number, most: number): ToolOutcome {
  const { name, files } = skill
  const file = files.find((one) => one.path === path)
  if (file === undefined) {
    const near = didYouMean(
      path,
      files.map((one) => one.path),
    )
    const list = aboutFiles(skill, Math.floor(most / 2)).join('') || '[It has no files beside its instructions.]'
    return failed(
      `The skill ${name} has no file ${JSON.stringify(visibleProse(path.slice(0, 200)))}.${near === null ? '' : ` Did you mean ${near}?`}\n${list}`,
    )
  }
  if (file.text === null)
    return failed(
      `${path} of the skill ${name} is not text, or larger than 1 MiB, so it cannot be read here: ${file.bytes} bytes.`,
    )
  return said([
    `[${path} of the skill ${name}. It was read, not run.]`,
    ...page(file.text, from, most, { name, file: path }),
  ])
}

/** Hidden characters become marks, which are longer, so a page may begin with fewer characters than fit. */
function page(text: string, from: number, most: number, again: Record<string, string>): string[] {
  if (from > 0 && from >= text.length)
    return [`[There is nothing after offset ${from}: the text ends at ${text.length}.]`]
  let end = pageEnd(text, from, most)
  let shown = visibleProse(text.slice(from, end))
  while (shown.length > most) {
    end = pageEnd(text, from, Math.floor((end - from) / 2))
    shown = visibleProse(text.slice(from, end))
  }
  if (end === text.length) return [shown]
  return [shown, `[There is more: call ${LOAD_SKILL} again with ${JSON.stringify({ ...again, offset: end })}.]`]
}

/** Not between the two halves of a character. */
function pageEnd(text: string, from: number, chars: number): number {
  const end = Math.min(text.length, from + chars)
  return end < text.length && /[\ud800-\udbff]/.test(text[end - 1] ?? '') ? end - 1 : end
}
