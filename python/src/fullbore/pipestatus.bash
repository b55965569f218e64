# bash reads this before the line (BASH_ENV). At its end, it writes the status of every stage of the last pipeline.
printf -v FULLBORE_PIPESTATUS %q "$FULLBORE_PIPESTATUS"
trap "printf '%s ' \"\${PIPESTATUS[@]}\" > $FULLBORE_PIPESTATUS" EXIT
unset FULLBORE_PIPESTATUS BASH_ENV
if [ -n "${FULLBORE_BASH_ENV+set}" ]; then
    export BASH_ENV=$FULLBORE_BASH_ENV
    unset FULLBORE_BASH_ENV
    [ ! -r "$BASH_ENV" ] || . "$BASH_ENV"
fi
