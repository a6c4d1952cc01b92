// A skill: instructions for one kind of task, in a folder with a SKILL.md (agentskills.io). The model sees its name and description, and
// reads the rest when a task needs it.

/** Everything is read when the agent is loaded, so that all runs of a version have the same. */
export interface Skill {
  name: string
  /** On one line, with hidden characters visible. */
  description: string
  /** What it needs, in the words of its author; null: nothing is said. */
  compatibility: string | null
  /** Absolute path of its folder. */
  directory: string
  /** SKILL.md without its front matter, as written. */
  body: string
  /** The files beside SKILL.md, sorted. */
  files: readonly SkillFile[]
  /** Of SKILL.md and all files. */
  bytes: number
  /** Changes with everything that the model can read of it. */
  digest: string
}

export interface SkillFile {
  /** Relative to the folder, with `/`. */
  path: string
  bytes: number
  /** As written; null: it is not text. */
  text: string | null
}

/** The tool that reads skills. */
export const LOAD_SKILL = 'load_skill'

/** Stands at the end of the instructions. */
export const skillList = (skills: readonly Pick<Skill, 'name' | 'description'>[]): string =>
  `You have skills: instructions for certain tasks. Before you begin a task that one of them is for, call ${LOAD_SKILL} with its name, ` +
  `and follow what it returns.\n${skills.map(({ name, description }) => `- ${name}: ${description}`).join('\n')}`
