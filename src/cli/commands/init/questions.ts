import { readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { providers } from '../../../config/agent/providers.ts'
import type { Io } from '../../terminal/io.ts'
import { saysYes } from '../../terminal/terminal-prompt.ts'
import { checkout, isInCheckout, isStarterProvider, type ProjectChoices, starterProviders } from './project-files.ts'

export const AGENT_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

export interface InitAnswers extends Omit<ProjectChoices, 'version'> {
  folder: string
}

export type InitGiven = { [Key in keyof InitAnswers]?: InitAnswers[Key] | undefined }

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
    model: given.model ?? providers[provider].model,
  }
}

/** Asks at the terminal for what the flags left open. Null if the person cancels. */
export async function askForProject(given: InitGiven, io: Io): Promise<InitAnswers | null> {
  // Loaded only at a terminal, because nothing else needs it.
  const { isCancel, select, text } = await import('@clack/prompts')
  const streams = { input: io.stdin, output: io.stdout }
  /** Null if the person cancels. */
  const ask = async (
    message: string,
    fallback: string,
    validate = (_: string | undefined): string | undefined => undefined,
  ) => {
    const answer = await text({ message, placeholder: fallback, defaultValue: fallback, validate, ...streams })
    return isCancel(answer) ? null : answer
  }

  const folder = given.folder ?? (await ask('In which folder?', completeAnswers(given, io.cwd).folder))
  if (folder === null) return null

  const isWrong = (name?: string) =>
    !name || AGENT_NAME.test(name) ? undefined : 'A letter, then letters, digits, - or _.'
  const usualName = nameFromFolder(resolve(io.cwd, folder))
  const name = given.name ?? (await ask('What is the name of the agent?', usualName, isWrong))
  if (name === null) return null

  const options = Object.entries(starterProviders).map(([value, label]) => ({ value, label }))
  const provider = given.provider ?? (await select({ message: 'Which provider runs the model?', options, ...streams }))
  if (isCancel(provider) || !isStarterProvider(provider)) return null

  const isAsked = given.model === undefined && provider !== 'demo'
  const model = isAsked ? await ask('Which model?', providers[provider].model) : given.model
  if (model === null) return null

  return completeAnswers({ folder, name, provider, model }, io.cwd)
}

export async function askToOverwrite(names: readonly string[], io: Io): Promise<boolean> {
  io.stdout.write(`${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} already there.\n`)
  return await saysYes('Overwrite?', io)
}
