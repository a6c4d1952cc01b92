import { type Command, Option } from 'commander'
import { flagName, type Setting } from '../config/settings/setting.ts'
import { type SettingFlags, type SettingKey, settingKeys, settings } from '../config/settings/settings.ts'

const groups: [heading: string, keys: string[]][] = [
  ['Where it listens:', ['host', 'port', 'protocols', 'cors.', 'allowed_hosts', 'tls.', 'open', 'console']],
  ['Who may talk:', ['auth.', 'insecure', 'public_docs']],
  ['What it keeps:', ['data_dir', 'store', 'postgres.', 'sessions.']],
  ['What it logs:', ['log.', 'debug']],
]

/** Adds the flags of all settings (or of `only` these), in groups. The help names each setting's variable. */
export function addSettingFlags(command: Command, only: readonly SettingKey[] = settingKeys): Command {
  for (const key of only) {
    const setting: Setting = settings[key]
    if (setting.flag === null) continue
    const option = new Option(setting.flag, describe(setting)).helpGroup(groupOf(key))
    if (setting.repeatable) {
      option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value])
    }
    command.addOption(option)
  }
  return command
}

/** The long names of flags, each with these words and the default of its setting. */
export const shortFlagTexts = (words: Partial<Record<SettingKey, string>>): [flag: string, text: string][] =>
  settingKeys.flatMap((key) => {
    const { flag, defaultText }: Setting = settings[key]
    const text = words[key]
    if (text === undefined || flag === null) return []
    return [[flagName(flag), flag.includes(' ') ? `${text} (default: ${defaultText})`.replaceAll('`', '') : text]]
  })

/** The flags that were given, by setting. `resolveSettings` checks the values. */
export function settingFlagsOf(command: Command): SettingFlags {
  const flags: SettingFlags = {}
  for (const key of settingKeys) {
    const { flag } = settings[key]
    if (flag === null) continue
    const attribute = new Option(flag).attributeName()
    if (command.getOptionValueSource(attribute) === 'cli') flags[key] = command.getOptionValue(attribute)
  }
  return flags
}

function groupOf(key: string): string {
  const group = groups.find(([, keys]) => keys.some((one) => key === one || (one.endsWith('.') && key.startsWith(one))))
  return group?.[0] ?? 'Limits:'
}

function describe({ description, defaultText, env, flag }: Setting): string {
  const facts = flag?.includes(' ') ? [`default: ${defaultText}`] : []
  const [variable] = env
  if (variable !== undefined) facts.push(`env: ${variable}`)
  return `${description} (${facts.join(', ')})`.replaceAll('`', '')
}
