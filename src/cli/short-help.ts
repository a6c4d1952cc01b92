import { type Command, Help, Option } from 'commander'

/**
 * Makes `--help` fit on one screen: of the flags that have a heading, it shows only those of `texts`, in a line each and without the
 * heading. A new flag `--help-all` prints them all.
 */
export function shortenHelp(command: Command, texts: ReadonlyMap<string, string>): Command {
  let isWhole = false
  const createHelp = command.createHelp.bind(command)
  command.createHelp = () => {
    const help = createHelp()
    // Only what is printed is shorter: commander looks for the flag that a typing mistake may mean among the visible ones.
    help.formatHelp = (of, helper) => {
      const options = isWhole ? helper.visibleOptions(of) : shortened(helper.visibleOptions(of), texts)
      return Help.prototype.formatHelp.call(helper, of, Object.assign(helper, { visibleOptions: () => options }))
    }
    return help
  }
  return command.option('--help-all', 'print all flags, with their variables').on('option:help-all', () => {
    isWhole = true
    command.help()
  })
}

const shortened = (options: Option[], texts: ReadonlyMap<string, string>): Option[] =>
  options.flatMap((option) => {
    if (option.helpGroupHeading === undefined) return [option]
    const text = texts.get(option.long ?? '')
    return text === undefined ? [] : [new Option(option.flags, text)]
  })
