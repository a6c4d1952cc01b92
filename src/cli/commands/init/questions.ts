import { readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Io } from '../../terminal/io.ts'
import { saysYes } from '../../terminal/terminal-prompt.ts'
import {
  checkout,
  isInCheckout,
  isStarterProvider,
  type ProjectChoices,
  type StarterProvider,
  starterProviders,
} from './project-files.ts'

export const AGENT_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

export interface InitAnswers extends Omit<ProjectChoices, 'version'> {
  folder: string
}

export interface InitGiven {
  folder?: string | undefined
  name?: string
  provider?: StarterProvider
  model?: string | undefined
}

/** Makes a name for the agent from the folder's name, as far as the rules for names allow. */
export function nameFromFolder(folder: string): string {
  const last = folder.split(/[\\/]+/).findLast((part) => part !== '' && part !== '.' && part !== '..') ?? ''
  const name = last
    .normalize('NFD')
    // Accents, which are now separate characters.
    .replace(/\p{Mark}+/gu, '')
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[^A-Za-z]+/, '')
    .slice(0, 64)
    .replace(/-+$/, '')
  return AGENT_NAME.test(name) ? name : 'assistant'
}

/**
 * This folder if it is a project already or has nothing but what `npm install` puts there, otherwise a new folder in it. In a checkout of
 * this program, a new folder beside that.
 */
function defaultFolder(cwd: string): string {
  if (checkout !== null && isInCheckout(cwd)) return join(relative(cwd, dirname(checkout)), 'my-agent')
  const names = readdirSync(cwd)
  const others = names.filter((name) => !/^(?:\..*|node_modules|package(?:-lock)?\.json)$/.test(name))
  return others.length === 0 || names.includes('agent.yaml') ? '.' : 'my-agent'
}

/** Fills in what the flags left open, without asking. */
export function completeAnswers(given: InitGiven, cwd: string): InitAnswers {
  const folder = given.folder ?? (isInCheckout(cwd) ? undefined : given.name) ?? defaultFolder(cwd)
  const provider = given.provider ?? 'demo'
  return {
    folder,
    name: given.name ?? nameFromFolder(resolve(cwd, folder)),
    provider,
    model: given.model ?? starterProviders[provider].model,
  }
}

/** Asks at the terminal for what the flags left open. Null if the person cancels. */
export async function askForProject(given: InitGiven, io: Io): Promise<InitAnswers | null> {
  // Loaded only at a terminal, because nothing else needs it.
  const { isCancel, select, text } = await import('@clack/prompts')
  const streams = { input: io.stdin, output: io.stdout }

  let folder = given.folder
  if (folder === undefined) {
    const fallback = completeAnswers(given, io.cwd).folder
    const answer = await text({
      message: 'In which folder?',
      placeholder: fallback,
      defaultValue: fallback,
      ...streams,
    })
    if (isCancel(answer)) return null
    folder = answer
  }

  let name = given.name
  if (name === undefined) {
    const fallback = nameFromFolder(resolve(io.cwd, folder))
    const answer = await text({
      message: 'What is the name of the agent?',
      placeholder: fallback,
      defaultValue: fallback,
      validate: (value) => (!value || AGENT_NAME.test(value) ? undefined : 'A letter, then letters, digits, - or _.'),
      ...streams,
    })
    if (isCancel(answer)) return null
    name = answer
  }

  let provider = given.provider
  if (provider === undefined) {
    const answer = await select({
      message: 'Which provider runs the model?',
      options: Object.entries(starterProviders).map(([value, { label }]) => ({ value, label })),
      ...streams,
    })
    if (isCancel(answer) || !isStarterProvider(answer)) return null
    provider = answer
  }

  let model = given.model
  if (model === undefined && provider !== 'demo') {
    const fallback = starterProviders[provider].model
    const answer = await text({ message: 'Which model?', placeholder: fallback, defaultValue: fallback, ...streams })
    if (isCancel(answer)) return null
    model = answer
  }

  return completeAnswers({ folder, name, provider, model }, io.cwd)
}

/** Asks whether these files may be overwritten. */
export async function askToOverwrite(names: readonly string[], io: Io): Promise<boolean> {
  io.stdout.write(`${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} already there.\n`)
  return await saysYes('Overwrite?', io)
}
