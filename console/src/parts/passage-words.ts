import type { Passage } from 'quarterdeck/client'

/** Where a passage stands, from the file down: `leave.md · Leave > Parental leave · page 4`. */
export function passageWords({ file, heading, page, sheet, slide, line }: Omit<Passage, 'id' | 'text'>): string {
  const place =
    page !== undefined
      ? `page ${page}`
      : sheet !== undefined
        ? `sheet ${sheet}`
        : slide !== undefined
          ? `slide ${slide}`
          : line !== undefined && heading === undefined
            ? `line ${line}`
            : undefined
  return [file, heading, place].filter((part) => part !== undefined).join(' · ')
}
