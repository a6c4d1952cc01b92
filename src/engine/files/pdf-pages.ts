/** About how large a page of a scan is: what is assumed where the file does not show its pages. */
const BYTES_A_PAGE = 100_000

/** About how many pages a PDF has, without reading it: its page objects where they lie open, otherwise a guess by its size. */
export function estimatePages(pdf: Buffer): number {
  const text = pdf.toString('latin1')
  const pages = text.match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length ?? 0
  const counts = [...text.matchAll(/\/Count\s+(\d{1,6})\b/g)].map(([, count]) => Number(count))
  const known = Math.max(pages, 0, ...counts)
  return known > 0 ? known : Math.ceil(pdf.length / BYTES_A_PAGE)
}
