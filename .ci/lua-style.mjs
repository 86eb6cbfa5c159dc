// How Lua is laid out here; the same as .stylua.toml says to editors.
import { Config, formatCode, IndentType, LineEndings, OutputVerification, QuoteStyle } from "@johnnymorganz/stylua";

/** The text in the project's layout; throws where it does not parse. */
export function formatLua(text) {
  const style = Config.new(); // consumed by each call
  style.column_width = 120;
  style.indent_type = IndentType.Spaces;
  style.indent_width = 2;
  style.quote_style = QuoteStyle.AutoPreferSingle;
  style.line_endings = LineEndings.Unix;
  return formatCode(text, style, undefined, OutputVerification.None);
}
