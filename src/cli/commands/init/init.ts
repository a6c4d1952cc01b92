import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Command, Option } from 'commander'
import { systemErrorCode } from '../../../domain/system-error-code.ts'
import { makeFolder } from '../../../store/make-folder.ts'
import { cannotCreate, usageError } from '../../cli-error.ts'
import { type CommandContext, examples } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import { shellWord } from '../../program-name.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'
import { hasTerminal } from '../../terminal/terminal-prompt.ts'
import { ignored, isInCheckout, keyNameOf, ownFiles, projectFiles, starterProviders } from './project-files.ts'
import {
  AGENT_NAME,
  askForProject,
  askToOverwrite,
  completeAnswers,
  type InitAnswers,
  type InitGiven,
} from './questions.ts'

interface InitFlags extends Omit<InitGiven, 'folder'> {
  yes?: boolean
  force?: boolean
}

export function createInitCommand({ version, io, settle }: CommandContext): Command {
  return new Command('init')
    .summary('make a working project')
    .description(
      'Makes an agent with a tool and a test case that you can serve at once. Asks questions at a terminal; elsewhere it takes flags. ' +
        'Overwrites agent.yaml and tools.ts only if you say so, and keeps all other files.',
    )
    .argument('[folder]', 'where to make it (default: this folder if it is empty, otherwise my-agent)')
    .option('--name <name>', "the agent's name (default: the folder's)")
    .addOption(
      new Option('--provider <provider>', 'who runs the model (default: demo)').choices(Object.keys(starterProviders)),
    )
    .option('--model <model>', "the model's name (default: a small current one of the provider)")
    .option('-y, --yes', 'ask nothing and use the defaults')
    .option('--force', 'overwrite agent.yaml and tools.ts')
    .addHelpText(
      'after',
      examples(
        'init                                       asks',
        'init ../helper --provider anthropic --yes  asks nothing',
      ),
    )
    .action(async (folder: string | undefined, options: InitFlags) => settle(await init(folder, options, version, io)))
}

export async function init(folder: string | undefined, options: InitFlags, version: string, io: Io): Promise<number> {
  if (options.name !== undefined && !AGENT_NAME.test(options.name)) {
    throw usageError(`--name ${JSON.stringify(options.name)} is not a valid name for an agent.`, [
      'Write a letter, then letters, digits, - or _, at most 64 characters in all.',
    ])
  }
  const { yes, force = false, ...flags } = options
  const given: InitGiven = { ...flags, folder }
  const ask = !yes && hasTerminal(io)
  const answers = ask ? await askForProject(given, io) : completeAnswers(given, io.cwd)
  const target = resolve(io.cwd, answers?.folder ?? '.')
  if (answers !== null && isInCheckout(target)) {
    throw cannotCreate(
      `${answers.folder === '.' ? 'This folder' : answers.folder} is in the checkout of Quarterdeck. Nothing was created.`,
      [`Choose a folder beside it: quarterdeck init ${shellWord(completeAnswers({}, io.cwd).folder)}`],
    )
  }
  const taken = ownFiles.filter((name) => existsSync(join(target, name)))
  const leave = answers === null || (taken.length > 0 && !force && ask && !(await askToOverwrite(taken, io)))
  if (leave) {
    io.stderr.write('Nothing was created.\n')
    return exitCodes.failed.code
  }
  if (taken.length > 0 && !force && !ask) {
    throw cannotCreate(`${answers.folder} has ${taken.join(', ')} already. Nothing was changed.`, [
      'Choose another folder: quarterdeck init <folder>; or overwrite them: --force',
    ])
  }
  const files = projectFiles({ ...answers, version })
  const kept = Object.keys(files).filter((name) => !ownFiles.includes(name) && existsSync(join(target, name)))
  const made = Object.entries(files).filter(([name]) => !kept.includes(name))
  try {
    makeFolder(target, 0o777)
    // `wx` also keeps a file that appeared in the meantime.
    for (const [name, content] of made)
      await writeFile(join(target, name), content, { flag: taken.includes(name) ? 'w' : 'wx' })
  } catch (error) {
    throw notWritable(answers.folder, error)
  }
  const names = made.map(([name]) => name)
  io.stdout.write(madeNote(answers, names, kept, io))
  if (kept.includes('.gitignore')) io.stdout.write(ignoreNote(readFileSync(join(target, '.gitignore'), 'utf8')))
  io.stdout.write(nextSteps(answers, io.program(target)))
  return exitCodes.ok.code
}

function notWritable(folder: string, error: unknown): unknown {
  const code = systemErrorCode(error)
  if (!/^(?:EACCES|EPERM|EROFS|ENOTDIR|EEXIST)$/.test(code)) return error
  const where = folder === '.' ? 'this folder' : folder
  return cannotCreate(`Files cannot be written in ${where} (${code}).`, [
    'Choose a folder that you may write to: quarterdeck init <folder>',
  ])
}

function madeNote({ folder }: InitAnswers, made: readonly string[], kept: readonly string[], io: Io): string {
  const where = folder === '.' ? '' : ` in ${styleFor(io.stdout, io.env).bold(folder)}`
  const rest = kept.length === 0 ? '' : ` Kept ${kept.join(', ')}.`
  return `Made ${made.join(', ')}${where}.${rest}\n`
}

function ignoreNote(gitignore: string): string {
  const lines = gitignore.split('\n').map((line) => line.trim().replace(/^\/|\/$/g, ''))
  const missing = ignored.filter((one) => !lines.includes(one.replace(/\/$/, '')))
  return missing.length === 0
    ? ''
    : `Add ${missing.join(', ')} to .gitignore: conversations and keys must stay private.\n`
}

function nextSteps({ folder, provider }: InitAnswers, program: string): string {
  const keyName = keyNameOf(provider)
  const steps = folder === '.' ? [] : [`cd ${shellWord(folder)}`]
  if (keyName !== null) steps.push(`cp .env.example .env     # then write your key after ${keyName}=`)
  steps.push(
    `${program} serve    # serve it, and open the address that is printed`,
    `${program} chat     # or talk to it here`,
    `${program} test     # run its test case`,
  )
  return `\nNext:\n${steps.map((step) => `  ${step}\n`).join('')}`
}
