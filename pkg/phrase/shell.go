package phrase

import "strings"

// Command writes a command line that can be pasted: each word reaches the program as it is. Every
// printed command goes through it, since objects, files and users supply names. Quotes do not keep
// a word from being an option: write an object as TYPE/NAME.
func Command(words ...string) string {
	return strings.Join(Words(words, ShellWord), " ")
}

// ShellWord writes a word so that a shell takes it for one.
func ShellWord(word string) string {
	if plain(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// plain reports whether a shell takes a word as it is. Zsh takes =ls for the path of ls.
func plain(word string) bool {
	return word != "" && word[0] != '=' && strings.IndexFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./:=,@%+", r)
	}) < 0
}

// Split are the words of a command line that Command wrote. Of no other line it has any: what a
// shell would do with that is for a shell.
func Split(line string) []string {
	var words []string
	for rest := line; ; {
		word, after, more := rest, "", false
		if !strings.HasPrefix(rest, "'") {
			word, after, more = strings.Cut(rest, " ")
		} else if end := endOfQuoted(rest); end > 0 {
			word, after, more = rest[:end], strings.TrimPrefix(rest[end:], " "), end < len(rest)
		}
		if quoted := len(word) > 1 && word[0] == '\''; quoted {
			word = strings.ReplaceAll(word[1:len(word)-1], `'\''`, "'")
		}
		words = append(words, word)
		if !more {
			break
		}
		rest = after
	}
	if Command(words...) != line {
		return nil
	}
	return words
}

// endOfQuoted is where a quoted word ends that a line begins with; 0 if it does not.
func endOfQuoted(line string) int {
	for at := 1; at < len(line); {
		end := strings.IndexByte(line[at:], '\'')
		if end < 0 {
			break
		}
		if at += end + 1; !strings.HasPrefix(line[at:], `\''`) {
			return at
		}
		at += len(`\''`)
	}
	return 0
}
