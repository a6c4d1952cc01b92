// Reference tables inside hand-written pages. A table stands between two comments and is made again by `generate.ts`.

const BLOCK = /(<!-- generated: ([\w.]+) -->\n)[\s\S]*?(<!-- end -->)/g

/** The page with every block's content replaced by what `render` makes of the block's name. */
export function fillPage(page: string, render: (name: string) => string): string {
  return page.replaceAll(BLOCK, (_, begin: string, name: string, end: string) => `${begin}\n${render(name)}\n${end}`)
}

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ''].join('\n')
}

export const code = (text: string): string => `\`${text}\``
