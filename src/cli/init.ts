import { access, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Command, Option } from 'commander'
import { makeFolder } from '../store/sqlite/make-folder.ts'
import { CliError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'
import { AGENT_NAME, askForProject, completeAnswers, type InitAnswers, type InitGiven } from './init-questions.ts'
import type { Io, Settle } from './io.ts'
import { projectFiles, type StarterProvider, starterProviders } from './project-files.ts'
import { styleFor } from './style.ts'

export interface InitOptions {
  name?: string
  provider?: StarterProvider
  model?: string
  yes?: boolean
}

export function createInitCommand(io: Io, settle: Settle): Command {
  return new Command('init')
    .summary('make a working project in a new folder')
    .description('Makes a folder with an agent that can be served at once. Asks at a terminal, takes flags otherwise.')
    .argument('[folder]', 'the folder to make (default: my-agent)')
    .option('--name <name>', "the agent's name (default: the folder's)")
    .addOption(
      new Option('--provider <provider>', 'who runs the model (default: demo)').choices(Object.keys(starterProviders)),
    )
    .option('--model <model>', "the model's name (default: a small current one of the provider)")
    .option('-y, --yes', 'ask nothing, take the defaults')
    .addHelpText(
      'after',
      `
Examples:
  $ quarterdeck init                                       asks
  $ quarterdeck init helper --provider anthropic --yes     asks nothing`,
    )
    .action(async (folder: string | undefined, options: InitOptions) => settle(await init(folder, options, io)))
}

export async function init(folder: string | undefined, options: InitOptions, io: Io): Promise<number> {
  if (options.name !== undefined && !AGENT_NAME.test(options.name)) {
    throw new CliError(exitCodes.usage.code, `--name ${JSON.stringify(options.name)} is no name for an agent.`, [
      'Write a letter, then letters, digits, - or _, at most 64 in all.',
    ])
  }
  const { yes, ...flags } = options
  const given: InitGiven = { ...flags, ...(folder === undefined ? {} : { folder }) }
  const ask = !yes && io.stdin.isTTY === true && io.stdout.isTTY === true
  const answers = ask ? await askForProject(given, io) : completeAnswers(given)
  if (answers === null) {
    io.stderr.write('Nothing was made.\n')
    return exitCodes.failed.code
  }
  const target = resolve(io.cwd, answers.folder)
  const files = projectFiles(answers)
  await writeProject(target, answers.folder, files)
  io.stdout.write(nextSteps(answers, Object.keys(files), io))
  return exitCodes.ok.code
}

async function writeProject(target: string, shown: string, files: Record<string, string>): Promise<void> {
  const present: string[] = []
  for (const name of Object.keys(files)) {
    const found = await access(join(target, name)).then(
      () => true,
      () => false,
    )
    if (found) present.push(name)
  }
  if (present.length > 0) {
    throw new CliError(
      exitCodes.cannotCreate.code,
      `${shown} has ${present.join(', ')} already. Nothing was changed.`,
      ['Choose another folder: quarterdeck init <folder>'],
    )
  }
  makeFolder(target, 0o777)
  // `wx`: also a file that appeared in the meantime is left alone.
  for (const [name, content] of Object.entries(files)) await writeFile(join(target, name), content, { flag: 'wx' })
}

function nextSteps({ folder, provider }: InitAnswers, files: string[], io: Io): string {
  const style = styleFor(io.stdout, io.env)
  const keyName = starterProviders[provider].keyName
  const steps = folder === '.' ? [] : [`cd ${/^[\w./-]+$/.test(folder) ? folder : JSON.stringify(folder)}`]
  if (keyName !== null) steps.push(`cp .env.example .env     # then write your key behind ${keyName}=`)
  steps.push('npx quarterdeck serve')
  return `Made ${style.bold(folder)} with ${files.join(', ')}.\n\nNext:\n${steps.map((step) => `  ${step}\n`).join('')}`
}
