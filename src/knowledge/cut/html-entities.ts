// The characters that HTML pages name.

const LATIN1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'
const OTHERS =
  'amp& lt< gt> quot" apos\' OEligŒ oeligœ ScaronŠ scaronš Yumlÿ fnofƒ ensp\u2002 emsp\u2003 thinsp\u2009 zwnj\u200c zwj\u200d ndash– mdash— lsquo‘ rsquo’ sbquo‚ ldquo“ rdquo” bdquo„ dagger† Dagger‡ bull• hellip… permil‰ prime′ Prime″ lsaquo‹ rsaquo› euro€ trade™ larr← uarr↑ rarr→ darr↓ harr↔ rArr⇒ hArr⇔ forall∀ part∂ exist∃ empty∅ isin∈ sum∑ minus− radic√ infin∞ cap∩ cup∪ int∫ asymp≈ ne≠ equiv≡ le≤ ge≥ sub⊂ sup⊃ alphaα betaβ gammaγ deltaδ epsilonε lambdaλ muμ piπ sigmaσ tauτ phiφ omegaω DeltaΔ SigmaΣ OmegaΩ check✓'

const named: ReadonlyMap<string, string> = new Map([
  ...LATIN1.split(' ').map((name, i): [string, string] => [name, String.fromCharCode(160 + i)]),
  ...OTHERS.split(' ').map((entry): [string, string] => [entry.slice(0, -1), entry.slice(-1)]),
])

/** An entity that is not known stays as it is. */
export function withoutEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z][a-z\d]{1,9}));?/gi, (entity, decimal, hex, name) => {
    if (name !== undefined) return named.get(name) ?? entity
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code >= 0x20 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : ' '
  })
}
