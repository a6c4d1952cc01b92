import { code, fillPage, markdownTable } from '../reference-page.ts'
import { inline } from '../source/explain-issues.ts'
import { settingKeys, settings } from './settings.ts'

/** docs/settings.md with its table made anew. */
export const settingsPage = (page: string): string => fillPage(page, () => settingsTable())

function settingsTable(): string {
  const rows = settingKeys.map((key) => {
    const { flag, env, defaultText, description, example } = settings[key]
    const [own, ...aliases] = env.map(code)
    return [
      code(key),
      flag === null ? '–' : code(flag),
      aliases.length === 0 ? `${own}` : `${own} (${aliases.join(', ')})`,
      defaultText,
      `${description} E.g. ${code(inline(example))}`,
    ]
  })
  return markdownTable(['key', 'flag', 'environment (aliases)', 'default', 'what it does'], rows)
}
