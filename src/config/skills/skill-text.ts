// SKILL.md: front matter in YAML, then the instructions.

import type { Skill } from '../../domain/agent/skill.ts'
import { visibleProse } from '../../domain/text/visible-text.ts'
import { type ConfigIssue, formatIssue } from '../config-error.ts'
import { parseYaml } from '../source/yaml-source.ts'

export type SkillText = Pick<Skill, 'name' | 'description' | 'compatibility' | 'body'> & {
  /** Its author wants only people to begin it. */
  hidden: boolean
}

type Found = (message: string) => void

const FRONT_MATTER = /^---[ \t]*\r?\n((?:.*\r?\n)*?)---[ \t]*(?:\r?\n|$)/
const STARTER = 'name: my-skill, and description: What it does and when to use it.'
/** As the format orders. */
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
/** What else is harmless in a prompt. Public repositories have such names. */
const USABLE = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} _.:-]*[\p{L}\p{M}\p{N}])?$/u
const MAX_NAME = 64
const MAX_DESCRIPTION = 1024

/** Null: it cannot be used, and `refuse` was told why. `folder`: the name of its folder. */
export function readSkillText(
  file: string,
  text: string,
  folder: string,
  refuse: Found,
  warn: Found,
): SkillText | null {
  const [head, yaml] = FRONT_MATTER.exec(text) ?? []
  if (head === undefined || yaml === undefined) {
    refuse(`${file}: it does not begin with front matter. Write between two lines of --- first: ${STARTER}`)
    return null
  }
  // An empty line in the place of the first ---, so that the lines are those of the file.
  const { source, issues } = parseYaml(file, `\n${yaml}`, STARTER)
  for (const issue of issues) refuse(formatIssue(issue))
  if (source === null) return null
  const value = source.value()
  const at = (key: string, message: string): ConfigIssue => source.issueAt([key], 'value', message)
  const found: ConfigIssue[] = []
  const [name, description] = (['name', 'description'] as const).map((key) => {
    const said = value[key]
    if (typeof said === 'string' && said.trim() !== '') return said.trim()
    found.push(at(key, said === undefined ? `this key is missing. Write e.g. ${STARTER}` : 'expected a text.'))
    return ''
  }) as [string, string]
  if (name !== '' && (name.length > MAX_NAME || !USABLE.test(name))) {
    found.push(at('name', `expected at most ${MAX_NAME} small letters, digits and hyphens. Write e.g. name: my-skill`))
  }
  const { compatibility, 'disable-model-invocation': disabled = false } = value
  if (typeof disabled !== 'boolean') found.push(at('disable-model-invocation', 'expected true or false.'))
  for (const issue of found) refuse(formatIssue(issue))
  if (found.length > 0) return null

  const say = (key: string, message: string) => warn(formatIssue(at(key, message)))
  if (!NAME.test(name)) say('name', 'the format allows only small letters, digits and single hyphens.')
  else if (name !== folder) say('name', `its folder has another name: ${visibleProse(folder)}.`)
  const line = visibleProse(description).replaceAll(/\s+/g, ' ')
  if (line.length > MAX_DESCRIPTION) {
    say('description', `it has ${line.length} characters, and the model sees the first ${MAX_DESCRIPTION}.`)
  }
  return {
    name,
    description: line.slice(0, MAX_DESCRIPTION).toWellFormed(),
    compatibility: typeof compatibility === 'string' ? visibleProse(compatibility).slice(0, 500) : null,
    body: text.slice(head.length).trim(),
    hidden: disabled === true,
  }
}
