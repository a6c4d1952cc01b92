import { ServerError } from '../../domain/errors.ts'
import { didYouMean } from '../../domain/text/did-you-mean.ts'
import { type Answer, type AnswerPart, heading, lines, oneLine, text } from './answer.ts'
import type { Asked, CommandDesk } from './command-desk.ts'
import { aliasSpec, type Category, categories, isVerb, type VerbSpec, verbs } from './verbs.ts'

/** Everything, one category, or one command. */
export async function help({ aliases }: Pick<CommandDesk, 'aliases'>, { command }: Asked): Promise<Answer> {
  const [asked] = command.words
  const wanted = asked?.toLowerCase()
  if (wanted === undefined) {
    const all = categoryNames.flatMap((one) => [heading(`${categories[one]} (${one})`), lines(usages(one, aliases))])
    return { parts: [...all, text(`More about one of them: help CATEGORY or help COMMAND. ${SESSIONS}`)] }
  }
  // `sessions` is both.
  if (isCategory(wanted)) return { parts: [...explained(wanted, aliases), text(SESSIONS)] }
  if (isVerb(wanted)) return { parts: [lines([lineOf(verbs[wanted])])] }
  if (aliases.includes(wanted)) return { parts: [lines([aliasLine(wanted)])] }
  const near = didYouMean(wanted, [...categoryNames, ...Object.keys(verbs), ...aliases])
  throw new ServerError(
    'invalid_request',
    `There is no help about ${JSON.stringify(oneLine(wanted, 64))}.${near === null ? '' : ` Did you mean ${near}?`} The categories are ${categoryNames.join(', ')}.`,
  )
}

const SESSIONS =
  'Most commands are about one session: the only open one of this channel, or the one that the first word or --session ID names, with the four characters that sessions shows.'

const isCategory = (name: string): name is Category => Object.hasOwn(categories, name)
const categoryNames = Object.keys(categories).filter(isCategory)

const specsOf = (category: Category): VerbSpec[] => Object.values(verbs).filter((one) => one.category === category)

const usages = (category: Category, aliases: readonly string[]): string[] => [
  ...specsOf(category).map(({ usage }) => usage),
  ...(category === 'commands' ? aliases : []),
]

const explained = (category: Category, aliases: readonly string[]): AnswerPart[] => [
  heading(categories[category]),
  lines([...specsOf(category).map(lineOf), ...(category === 'commands' ? aliases.map(aliasLine) : [])]),
  ...(category === 'commands' && aliases.length === 0
    ? [text('No commands are configured: add some under commands in quarterdeck.yaml.')]
    : []),
]

const lineOf = ({ usage, does }: VerbSpec): string => `${usage}: ${does}`
const aliasLine = (alias: string): string => lineOf({ ...aliasSpec, usage: alias })
